"""Words that make a street of a name, and a part of a house of a number, in the languages of the model and beside."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STREETS = _words("""
    street st road rd avenue ave av boulevard blvd lane ln drive dr court ct place pl square sq terrace way close
    crescent highway hwy parkway pkwy alley row mews parade esplanade circle trail quay straße strasse str weg
    platz allee gasse ring ufer damm chaussee steig rue chemin impasse allée quai cours route ruelle passage
    rond-point calle avenida avda paseo plaza camino carretera ronda travesía callejón via viale piazza piazzale
    corso largo vicolo strada lungomare rua travessa praça estrada alameda rodovia straat laan plein gracht kade
    dijk steeg singel gata gatan gate gade vej väg vägen veien torg allé stræde katu tie kuja polku tänav ulica
    ul aleja osiedle ulice náměstí utca út tér sokak cadde caddesi mahallesi улица ул проспект пр переулок шоссе
    бульвар набережная οδός λεωφόρος
""")
_ENDS = re.compile(
    r"(?:stra(?:ß|ss)e|str|weg|platz|allee|gasse|straat|laan|plein|gracht|kade"
    r"|gatan|gata|gate|gade|vägen|veien|vegen|vej|stræde|götu|gatu|katu|kuja|tänav)$"
)
_STEM_LETTERS = 3
UNITS = _words("""
    apt apartment suite ste unit floor fl room rm box flat po pobox postfach building bldg etage étage
    appartement appt bât piso puerta planta interno scala wohnung top andar apto bloco postbus apdo psc apo fpo
    dpo
""")


def is_street_word(word: str) -> bool:
    """`Road`, `Straße`, `Hauptstraße`, `Søndergade`."""
    lower = word.lower()
    found = _ENDS.search(lower)
    return lower in STREETS or (found is not None and found.start() >= _STEM_LETTERS)


def is_unit_word(word: str) -> bool:
    return word.lower() in UNITS
