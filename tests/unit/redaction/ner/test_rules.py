"""What is believed of a model: tables of a text with what the model says in brackets, and what is found."""

from __future__ import annotations

import pytest

from pipeline.redaction.ner.detector import Ner
from tests.unit.redaction.ner.scripted import Scripted, marked


def found(text: str, cls: str) -> list[str]:
    plain, tagged = marked(text)
    spans = Ner(Scripted({plain: tagged})).detect(plain)
    return [plain[span.start : span.end] for span in spans if span.cls == cls]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Ask [Anna|person] about it.", ["Anna"]),
        ("Ask [Anna Berg|person] about it.", ["Anna Berg"]),
        ("Ask [Anna|person] K. [Berg|person] about it.", ["Anna K. Berg"]),
        ("Ask [Anna|person] K. Berg about it.", ["Anna K. Berg"]),  # behind an initial, whatever the model says
        ("Ask [Anna|person] [van der|person .5] [Berg|person] about it.", ["Anna van der Berg"]),
        ("[Jean|person]-[Luc|person] was here.", ["Jean-Luc"]),
        ("[O'Brien|person], [McDowell|person] and [d'Angelo|person]", ["O'Brien", "McDowell", "d'Angelo"]),
        ("[Anna|person]'s desk is [Berg|person]’s now.", ["Anna", "Berg"]),
        ("[Anna|person]. [Berg|person] is a town.", ["Anna", "Berg"]),  # a full stop parts what no initial joins
        ("[Anna|person] came. Later Anna left.", ["Anna", "Anna"]),
        ("author=[Anna|person]", ["Anna"]),
        ("i am [anna berg|person .97], hello", ["anna berg"]),
        ("I am [anna berg|person .97], hello", ["anna berg"]),
        ("I am [anna berg|person .9], hello", []),  # small letters beside capitals: all but certain, or nothing
        ("[ANNA BERG|person .8] SIGNED", ["ANNA BERG"]),
        ("Signed: [ANNA BERG|person .8]", ["ANNA BERG"]),
        ("[田中|person .9]さんに連絡", ["田中"]),
        ("[Anna|person .3] is not sure.", []),
        ("Update [CLAUDE|person].md for the changes", []),
        ("Open package.[json|person] first", []),
        ("The [linter|person .9] Shows nothing", []),
        ("All of [ESLint|person] and [TodoList|person] and [setTheme|person]", []),
        ("Call `[Gemini|person]` here", []),
        ("The path is /srv/[Anna|person]/x", []),
        ("It is a [Claude|person]_code thing", []),
        ("git.[PlainInit|person] makes it", []),
        ("my ex-[Zombie|person] friend", []),
        ("The [TODO|person] list", []),
        ("[N14|person] and [x86|person]", []),
        ("ID [omar_davis_3817|person]", []),
    ],
)
def test_a_person_is_written_as_names_are(text: str, people: list[str]) -> None:
    assert found(text, "person") == people


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("At [14|building] [Crown Street|street] please", ["14 Crown Street"]),
        ("At [14|building] [Crown Street|street], Apt. [5|unit]\n[London|place], [75419|zip].",
         ["14 Crown Street, Apt. 5\nLondon, 75419"]),
        ("In der [Lindenstraße|street] [14|building], [50674|zip] [Köln|place]", ["Lindenstraße 14, 50674 Köln"]),
        ("on [Berg Hills Street|street] itself", ["Berg Hills Street"]),
        ("zip code [90210|zip]", ["90210"]),
        ("PLZ: [50674|zip]", ["50674"]),
        ("[Leeds|place] [LS1|zip]", ["Leeds LS1"]),
        ("Box [12|unit], [Leeds|place]", ["12, Leeds"]),
        ("see setup.go:[680|zip]-[706|zip]", []),
        ("(lines [963|zip]-[971|zip])", []),
        ("localhost:[3001|zip]", []),
        ("a balance of $[171|zip]", []),
        ("[line 946|street]", []),
        ("under the [mutex locks|street]", []),
        ("a card ending in [7447|zip]", []),
        ("flies to [London|place]", []),
        ("[v14|building]", []),
        ("documented port [3001|zip]", []),
    ],
)  # fmt: skip
def test_an_address_has_a_street_or_a_place_beside_its_number(text: str, addresses: list[str]) -> None:
    assert found(text, "address") == addresses


@pytest.mark.parametrize(
    ("text", "phones"),
    [
        ("not answering at [71-33-52-22|phone]", ["71-33-52-22"]),
        ("reach [+44 (0)8 928 571 38|phone] now", ["+44 (0)8 928 571 38"]),
        ("Fax: [345-899-3560|phone] x4587", ["345-899-3560 x4587"]),
        ("at [01.27.21|phone]", []),  # a time
        ("on [2024-05-17|phone]", []),
        ("on [17.05.2024|phone]", []),
        ("at [10.20.30.40|phone]", []),
        ("order [12345678|phone]", []),  # a run of digits has no groups
        ("shade [238|phone]", []),
        ("in v[1.22.333.4444|phone]", []),
        ("maybe [71-33-52-22|phone .3]", []),
    ],
)
def test_a_phone_has_the_digits_of_one(text: str, phones: list[str]) -> None:
    assert found(text, "phone") == phones


def test_a_date_of_birth_where_the_model_knows_them() -> None:
    assert found("born [17.05.1974|birth] there", "dob") == ["17.05.1974"]


def test_a_word_is_not_judged_by_a_piece_of_it() -> None:
    """The model's `ini` of `Gemini` is two thirds of nothing."""
    plain, tagged = marked("The Gem[ini|person] logic")
    assert plain[slice(*tagged.offsets[2])] == "ini"
    assert Ner(Scripted({plain: tagged})).detect(plain) == []
    plain, tagged = marked("The Gemi[ni|person] logic")
    assert Ner(Scripted({plain: tagged})).detect(plain) == []


def test_no_text_and_no_tokens_have_no_spans() -> None:
    assert list(Ner(Scripted()).detect_many(["", "nothing known"])) == [[], []]
    assert list(Ner(Scripted()).detect_many([])) == []
