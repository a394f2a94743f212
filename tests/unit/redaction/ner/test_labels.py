"""A model's labels, by their usual names or by what an operator says."""

from __future__ import annotations

import pytest

from pipeline.errors import SettingError
from pipeline.redaction.ner.canaries import KNOWN_LANGUAGES, canaries, known_languages
from pipeline.redaction.ner.labels import parse, roles_of
from pipeline.redaction.ner.roles import Role


def test_usual_names_have_their_roles() -> None:
    labels = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "B-Street-Address", 5: "S-ZIPCODE", 6: "MISC"}
    assert roles_of(labels, {}) == {
        1: Role.PERSON, 2: Role.PERSON, 3: Role.PLACE, 4: Role.STREET, 5: Role.ZIP,
    }  # fmt: skip


def test_what_is_said_comes_first() -> None:
    said = parse("LABEL_1=person, loc = none,LABEL_2=birth")
    assert roles_of({1: "LABEL_1", 2: "LABEL_2", 3: "LOC"}, said) == {1: Role.PERSON, 2: Role.BIRTH}


def test_a_model_none_of_whose_labels_is_known_is_refused_with_them() -> None:
    with pytest.raises(SettingError, match=r"^AFTERWORD_NER_LABELS: .*\(LABEL_0, LABEL_1\)"):
        roles_of({0: "LABEL_0", 1: "LABEL_1"}, {})


@pytest.mark.parametrize("text", ["PER", "PER=human", "=person=x"])
def test_what_is_no_mapping_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no LABEL=role; roles are person, street"):
        parse(text)


def test_languages_have_canaries_or_are_refused() -> None:
    assert known_languages("pt, EN,en") == ("en", "pt")
    with pytest.raises(ValueError, match="no canary is written for xx; there are canaries for ar, "):
        known_languages("en,xx")
    with pytest.raises(ValueError, match="no language is named"):
        known_languages(" , ")
    for canary in canaries(KNOWN_LANGUAGES):
        assert canary.expected in canary.text
