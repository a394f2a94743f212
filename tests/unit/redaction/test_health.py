"""A class is covered when its canaries sing: a detector that is quiet, wrong or broken is down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from pipeline.org import OrgSettings
from pipeline.redaction.canary import CANARIES, Canary
from pipeline.redaction.classes import REQUIRED_BY_DEFAULT
from pipeline.redaction.detectors import ALL
from pipeline.redaction.health import look, sing
from pipeline.redaction.span import Detector, Span


@dataclass(frozen=True)
class Quiet:
    name: str = "quiet"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        return []


@dataclass(frozen=True)
class Broken:
    name: str = "broken"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        raise RuntimeError(text)


@dataclass(frozen=True)
class Elsewhere:
    """Finds something, but not what it should."""

    name: str = "elsewhere"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        return [Span(0, 1, "iban", 1.0, self.name)]


@dataclass(frozen=True)
class Words:
    """Finds the words it knows, of the class it is given; asked for all texts at once."""

    known: dict[str, str]
    name: str = "words"
    asked: list[int] = field(default_factory=list)

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(self.known.values()) | {"person"}

    def detect(self, text: str) -> Sequence[Span]:
        found = ((text.find(word), word, cls) for word, cls in self.known.items())
        return [Span(at, at + len(word), cls, 1.0, self.name) for at, word, cls in found if at >= 0]

    def detect_many(self, texts: Sequence[str]) -> list[Sequence[Span]]:
        self.asked.append(len(texts))
        return [self.detect(text) for text in texts]


PEOPLE = (
    Canary("person", "Ask Ana Silva.", "Ana Silva", "en"),
    Canary("person", "Pergunta ao Rui Costa.", "Rui Costa", "pt"),
)
NUMBERS = (Canary("badge", "Badge 4711.", "4711"), Canary("badge", "工号4712。", "4712", "zh"))


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: f"{canary.cls}-{canary.language}")
def test_a_canary_holds_what_it_expects(canary: Canary) -> None:
    assert canary.expected in canary.text


def test_all_detectors_are_up_and_find_every_canary_of_what_they_claim() -> None:
    health = look(ALL)
    assert health.up == {detector.name: True for detector in ALL}
    assert all(health.found.values())
    claimed = frozenset[str]().union(*(detector.classes for detector in ALL))
    assert {cls for cls, _ in health.found} == claimed
    assert health.answering == ALL


@pytest.mark.parametrize("detector", [Quiet(), Broken(), Elsewhere()], ids=lambda detector: detector.name)
def test_a_detector_that_finds_nothing_is_down(detector: Detector) -> None:
    health = look([detector])
    assert health.up == {detector.name: False}
    assert not health.covers("iban", {"en"})


def test_only_one_that_gives_no_answer_is_not_asked_to_look() -> None:
    health = look([Quiet(), Broken(), Elsewhere()])
    assert [detector.name for detector in health.answering] == ["quiet", "elsewhere"]


@pytest.mark.parametrize("missing", ALL, ids=lambda detector: detector.name)
def test_without_one_detector_its_classes_are_not_covered(missing: Detector) -> None:
    health = look([detector for detector in ALL if detector is not missing])
    everything = look(ALL)
    for cls in REQUIRED_BY_DEFAULT:
        assert health.covers(cls, {"en"}) == (everything.covers(cls, {"en"}) and cls not in missing.classes)


@pytest.mark.parametrize(
    ("known", "languages", "covered"),
    [
        ("Ana Silva", {"en"}, True),
        ("Rui Costa", {"en"}, False),
        ("Ana Silva", {"en", "pt"}, False),
        ("Ana Silva|Rui Costa", {"en", "pt"}, True),
        ("Ana Silva|Rui Costa", {"en", "fi"}, False),
        ("Ana Silva|Rui Costa", set(), False),
    ],
)
def test_a_class_bound_to_languages_is_covered_in_those_that_sing(
    known: str, languages: set[str], covered: bool
) -> None:
    health = look([Words(dict.fromkeys(known.split("|"), "person"))], PEOPLE)
    assert health.covers("person", languages) == covered


@pytest.mark.parametrize(
    ("known", "languages", "covered"),
    [
        ("4711", {"en"}, True),
        ("4711", {"en", "zh"}, False),
        ("4711|4712", {"en", "zh"}, True),
        ("4712", {"en"}, False),
    ],
)
def test_a_format_of_no_language_is_covered_everywhere_but_where_a_canary_says_otherwise(
    known: str, languages: set[str], covered: bool
) -> None:
    health = look([Words(dict.fromkeys(known.split("|"), "badge"))], NUMBERS)
    assert health.covers("badge", languages) == covered


def test_a_class_that_has_no_canary_is_not_covered_and_one_nobody_claims_shows_no_canary() -> None:
    health = look([Words({"4711": "badge", "4712": "badge"})], NUMBERS)
    assert not health.covers("person", {"en"})
    assert not health.covers("never_heard_of", {"en"})
    assert look([Quiet()], NUMBERS).found == {}


def test_canaries_of_a_model_are_one_batch() -> None:
    words = Words({"Ana Silva": "person"})
    assert {canary.language for canary in sing(words, PEOPLE)} == {"en"}
    assert words.asked == [2]


@pytest.mark.parametrize(
    ("required", "waived", "expected"),
    [
        ({"iban"}, {}, set()),
        ({"iban", "person"}, {}, {"person"}),
        ({"iban", "person"}, {"person": "olga"}, set()),
        ({"never_heard_of"}, {}, {"never_heard_of"}),
        (set(), {}, set()),
    ],
)
def test_what_is_required_and_not_waived_is_uncovered(
    required: set[str], waived: dict[str, str], expected: set[str]
) -> None:
    org = OrgSettings(required_classes=frozenset(required), waived_classes=waived)
    assert org.uncovered(look(ALL)) == expected


def test_what_has_no_detector_is_uncovered_by_default() -> None:
    """And addresses, whose formats alone are no language's."""
    assert OrgSettings().uncovered(look(ALL)) == {"person", "address"}


@pytest.mark.parametrize("languages", [[], ["EN"], ["english"], ["e"], [""]])
def test_an_org_speaks_at_least_one_language_by_its_code(languages: list[str]) -> None:
    with pytest.raises(ValueError, match="languages"):
        OrgSettings.model_validate({"languages": languages})


def test_a_digest_names_what_looked_and_what_it_missed() -> None:
    words = Words(dict.fromkeys(["Ana Silva"], "person"))

    @dataclass(frozen=True)
    class Model(Words):
        revision: str = "1"

    assert look([words], PEOPLE).digest == look([Words({"Ana Silva": "person"})], PEOPLE).digest
    different = {
        look(detectors, PEOPLE).digest
        for detectors in (
            [words], [words, Quiet()], [Words({"Rui Costa": "person"})], [Words({})],
            [Model({"Ana Silva": "person"})], [Model({"Ana Silva": "person"}, revision="2")],
        )
    }  # fmt: skip
    assert len(different) == 6


def test_a_model_that_cannot_be_read_is_down_and_stops_nobody() -> None:
    class Unreadable:
        name = "ner"

        @property
        def classes(self) -> frozenset[str]:
            raise OSError

        def detect(self, text: str) -> Sequence[Span]:
            raise OSError

    health = look([Unreadable(), *ALL])
    assert health.up["ner"] is False
    assert health.covers("cc", {"en"})
    assert health.answering == ALL
