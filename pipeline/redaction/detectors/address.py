"""Postal addresses by their format: a street's kind with its number, a post box, a military address.

    14 Crown Street      Lindenstraße 14      12 rue des Lilas      Calle Mayor 23      ул. Ленина, 15      建国路88号
    P.O. Box 149         Postfach 12          PSC 1437, Box 3833, APO AA 66791

It stands beside the model, which knows addresses without any of these words; alone it covers no language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.classes import ADDRESS
from pipeline.redaction.folding import Folded, fold
from pipeline.redaction.span import Interval, Span

_SMALL = r"(?:(?:de|del|des|du|da|do|dos|das|di|della|van|von|der|den|la|las|los|le|les) |[dl]['?])"
_NAME = r"[A-Z?][A-Za-z?'.-]+"
_NAMES = rf"{_SMALL}{{0,2}}{_NAME}(?: {_SMALL}{{0,2}}{_NAME}){{0,3}}"
_NUMBER = r"\d{1,5}(?:[-/]\d{1,4})?[A-Za-z]?"
_UNIT = r"(?:,?\s{1,2}(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor)\.? #?\d{1,5}[A-Z]?)?"
_KINDS_BEHIND = (
    "Street|Avenue|Road|Boulevard|Lane|Drive|Court|Square|Terrace|Crescent|Highway|Parkway|Alley|St|Ave|Rd|Blvd|Ln|Dr"
)
_KINDS_BEFORE = (
    r"[Rr]ue|[Aa]venue|[Bb]oulevard|[Cc]hemin|[Ii]mpasse|[Aa]ll\?e|[Qq]uai|Calle|Avenida|Avda\.?|Paseo|Carretera"
    r"|Via|Viale|Piazza|Corso|Vicolo|Rua|Travessa|Pra\?a|Alameda|Estrada|[Uu]l\.|[Uu]lica"
)
_KINDS_INSIDE = r"stra(?:\?|ss)e|str\.|gasse|allee|platz|straat|laan|plein|gracht|gatan|gade|v\?gen|vegen|katu"
_KINDS_BETWEEN = r"Stra\?e|Allee|Platz|[Uu]tca|[Tt]\?r|[Ss]okak|[Cc]addesi|[Uu]lice"
_BOXES = (
    r"P\.? ?O\.? ?[Bb]ox|Postal [Bb]ox|Postfach|Postbus|Postboks|Apartado de [Cc]orreos|Casella [Pp]ostale"
    r"|Caixa [Pp]ostal"
)
_MILITARY = r"(?:(?:PSC|CMR|Unit) \d{1,5},? Box \d{1,5}|US(?:S|NS|NV|CGC) [A-Z][A-Za-z]+)"
PATTERN = re2.compile(
    "|".join((
        rf"\b{_NUMBER} {_NAMES} (?:{_KINDS_BEHIND})\b\.?{_UNIT}",
        rf"\b\d{{1,5}}(?: (?:bis|ter))?,? (?:{_KINDS_BEFORE}) {_NAMES}",
        rf"\b(?:{_KINDS_BEFORE}) {_NAMES}(?:, | (?:No:?|n\.)? ?){_NUMBER}\b",
        rf"[A-Z?][A-Za-z?.-]{{2,}}(?:{_KINDS_INSIDE}) {_NUMBER}\b",
        rf"{_NAME}(?: {_NAME})? (?:{_KINDS_BETWEEN}) (?:No:? ?)?{_NUMBER}\b",
        rf"\b(?:{_BOXES}) \d{{1,6}}\b",
        rf"\b{_MILITARY}\s{{1,2}}(?:APO|FPO|DPO),? A[AEP](?: \d{{5}}(?:-\d{{4}})?)?",
    )).encode()
)  # fmt: skip
"""Over the folded bytes, in which a letter that is not ASCII is one `?`."""
_OTHER = re.compile(
    r"(?:[Уу]лица|[Уу]л\.|[Пп]роспект|[Пп]р\.|[Пп]ереулок|[Вв]улиця) [^\W\d_]{2,30}(?: [^\W\d_]{2,30})?,? \d{1,4}\b"
    r"|[\u4e00-\u9fff]{2,12}[路街道巷]\d{1,5}号"
    r"|[\u4e00-\u9fff]{2,4}[都道府県][\u4e00-\u9fff]{1,8}[市区町村][\u4e00-\u9fff\u30a0-\u30ff]{1,8}"
    r"\d{1,3}(?:丁目)?(?:-\d{1,3}){0,2}"
)
_OTHER_SIGNS = re2.compile(rb"\?\d{1,5}\?|\?\d{1,3}-\d|\?\?\.? \?|\?{5} \?")
_SIGNS = "|".join((
    rf" (?:{_KINDS_BEHIND})\b",
    rf"(?:{_KINDS_BEFORE}) ",
    rf"(?:{_KINDS_INSIDE}|{_KINDS_BETWEEN}) (?:No:? ?)?\d",
    r"(?:[Bb]ox|Postfach|Postbus|Postboks|[Cc]orreos|[Pp]ostale?) \d",
    r"[AFD]PO,? A[AEP]",
))  # fmt: skip

_REACH = 60
"""Characters around a sign within which such an address lies whole."""


@dataclass(frozen=True)
class Address:
    name: str = "address"
    classes: frozenset[str] = frozenset({ADDRESS})

    @property
    def trigger(self) -> bytes:
        return f"{_SIGNS}|{bytes(_OTHER_SIGNS.pattern).decode()}".encode()

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), ADDRESS, 0.9, self.name) for hit in _hits(folded)]


def _hits(folded: Folded) -> Iterator[Interval]:
    for match in PATTERN.finditer(folded.data):
        if _is_lettered(folded.text[match.start() : match.end()], match.group()):
            yield match.span()
    if not folded.text.isascii():
        done = 0
        for sign in _OTHER_SIGNS.finditer(folded.data):
            start = max(done, sign.start() - _REACH)
            for other in _OTHER.finditer(folded.text, start, sign.end() + _REACH):
                done = other.end()
                yield other.span()


def _is_lettered(text: str, data: bytes) -> bool:
    """Every `?` of the bytes stands for a letter, an accent or an apostrophe of the text."""
    return all(
        byte != ord("?") or character.isalpha() or unicodedata.category(character) == "Mn" or character == "’"
        for character, byte in zip(text, data, strict=True)
    )
