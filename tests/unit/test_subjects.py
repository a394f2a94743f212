"""Whom a text names: one form for all ways to write a name, keyed hashes, and search by words with the hash alone."""

from __future__ import annotations

import pytest

from pipeline.errors import SettingError
from pipeline.redaction.detectors import ALL
from pipeline.redaction.redactor import Inspector
from pipeline.subjects import (
    Keyring,
    Name,
    canonical,
    event_names,
    is_distinctive,
    key_check,
    names_in,
    sought,
    sought_again,
    texts_in,
    words,
)

RING = Keyring(b"key", 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Name("person", "Ana Silva"), Name("person", " ana  SILVA\n")),
        (Name("person", "Ａｎａ Silva"), Name("person", "Ana Silva")),
        (Name("person", "ana-silva"), Name("person", "Ana_Silva")),
        (Name("email", "Ana@Example.org"), Name("email", "ana@example.org ")),
        (Name("phone", "+44 20 7946 0958"), Name("phone", "020 7946-0958")),
        (Name("phone", "２０７９４６０９５８"), Name("phone", "(20) 7946 0958")),
    ],
)
def test_one_form_for_all_ways_to_write_a_name(one: Name, other: Name) -> None:
    assert canonical(one) == canonical(other)
    assert RING.name(one) == RING.name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Name("person", "ana"), Name("user", "ana")),
        (Name("user", "a-b"), Name("user", "a_b")),
        (Name("user", "Ana"), Name("user", "ana")),
        (Name("email", "a@example.org"), Name("email", "a@example.com")),
    ],
)
def test_two_people_have_two_hashes(one: Name, other: Name) -> None:
    assert RING.name(one) != RING.name(other)


def test_the_same_name_has_another_hash_in_another_org_or_under_another_key() -> None:
    name = Name("person", "ana silva")
    hashes = {Keyring(key, org).name(name) for key in (b"a", b"b") for org in (1, 2)}
    assert len(hashes) == 4
    assert {len(item) for item in hashes} == {16}


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(SettingError, match="AFTERWORD_INSTALLATION_KEY"):
        key_check(b"")


STANDS = [
    ("person", "Ana Silva", "Yesterday ANA\n silva rang."),
    ("person", "Ana Silva", "write to ana.silva@example.org"),
    ("person", "Ana Silva", "file: ana_silva-2.txt"),
    ("person", "Иван Петров", "Вчера ИВАН ПЕТРОВ звонил"),
    ("person", "田中太郎", "昨日、田中太郎さんが来ました"),
    ("person", "김철수", "어제김철수가왔다"),
    ("person", "José Ñuñez", "JOSÉ ÑUÑEZ"),
    ("email", "ana@example.org", "mailto:ANA@example.org?x"),
    ("phone", "+44 20 7946 0958", "tel 020-7946-0958."),
    ("user", "zq-4242-user", "assigned to zq-4242-user."),
]
STANDS_NOT = [
    ("person", "Ana Silva", "Anastasia Silvana"),
    ("person", "Ana Silva", "Silva, Ana"),
    ("person", "Ana Silva", "Ana Maria Silva"),
    ("phone", "+44 20 7946 0958", "order 20 7946 0959"),
    ("email", "ana@example.org", "ana@example.com"),
]


@pytest.mark.parametrize(("kind", "id_", "text"), STANDS)
def test_who_stands_in_a_text_is_found_by_name_and_by_hash_alone(kind: str, id_: str, text: str) -> None:
    who = sought(RING, Name(kind, id_))
    assert who.stands_in([text])
    assert who.may_stand_in(text)
    again = sought_again(RING, who.hash, [item.as_json() for item in who.needles])
    assert again.stands_in([text])
    assert again.may_stand_in(text)


@pytest.mark.parametrize(("kind", "id_", "text"), STANDS_NOT)
def test_who_does_not_is_not(kind: str, id_: str, text: str) -> None:
    who = sought(RING, Name(kind, id_))
    again = sought_again(RING, who.hash, [item.as_json() for item in who.needles])
    assert not who.stands_in([text])
    assert not again.stands_in([text])


@pytest.mark.parametrize(
    ("span", "theirs"), [("Jane", True), ("Porter", True), ("Bob", False), ("Jane Porter and", False)]
)
def test_a_part_of_their_name_is_theirs(span: str, theirs: bool) -> None:
    text = "Call Jane Porter and Bob Porter-Hill."
    start = text.index(span)
    assert sought(RING, Name("person", "jane porter")).is_around(text, start, start + len(span)) is theirs


def test_what_is_searched_besides_counts_inside_words() -> None:
    who = sought(RING, Name("user", "u1"), ["silva"])
    assert who.stands_in(["the ANASILVA project"])
    assert not sought(RING, Name("person", "ana silva")).stands_in(["the ANASILVA project"])


@pytest.mark.parametrize("text", ["", "  ", "—", "!!"])
def test_a_text_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no word"):
        sought(RING, Name("user", "u1"), [text])


def test_a_register_names_nobody() -> None:
    who = sought(RING, Name("person", "Zebediah Quill"), ["quill", "zq@example.org"])
    assert not any(word in str([item.as_json() for item in who.needles]) for word in ("zebediah", "quill", "zq"))


@pytest.mark.parametrize(
    ("name", "distinctive"),
    [
        (Name("person", "ana silva"), True),
        (Name("person", "will"), False),
        (Name("user", "u1"), False),
        (Name("user", "admin"), False),
        (Name("user", "8471153"), True),
        (Name("user", "anasilvaferreira"), True),
        (Name("email", "a@example.org"), True),
        (Name("phone", "112"), False),
        (Name("phone", "020 7946 0958"), True),
    ],
)
def test_a_common_word_is_not_searched_for_unasked(name: Name, distinctive: bool) -> None:
    assert is_distinctive(name) is distinctive
    assert bool(sought(RING, name).needles) is distinctive


def test_an_event_names_its_user_and_participants_and_survives_any_json() -> None:
    named = event_names({"user": "u1", "participants": ["Ana Silva", None, 3, {"a": 1}]})
    assert named == {Name(kind, id_) for id_ in ("u1", "Ana Silva") for kind in ("user", "person")}
    assert event_names({"user": {"a": []}, "participants": "Ana"}) == frozenset()


def test_detectors_name_people_and_their_addresses_not_machines() -> None:
    found = names_in(Inspector(ALL), ["Write to ana@example.org or ring +44 20 7946 0958 from 8.8.4.4."])
    assert found == {Name("email", "ana@example.org"), Name("phone", "+44 20 7946 0958")}


def test_every_text_of_a_value_is_read() -> None:
    assert list(texts_in({"a": ["b", {"c": "d"}], "e": 1, "f": None})) == ["a", "b", "c", "d", "e", "f"]


def test_words_part_at_what_is_no_letter_or_digit() -> None:
    assert words("Ana-Silva_2, (ÉTÉ) 田中") == ["ana", "silva", "2", "été", "田", "中"]
