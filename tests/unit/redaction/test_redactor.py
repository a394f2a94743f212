"""Many texts through all detectors at once say what each says alone, and one that cannot be read fails alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from pipeline.errors import DetectorDown
from pipeline.redaction.detectors import ALL
from pipeline.redaction.redactor import Inspector, inspect, inspect_many
from pipeline.redaction.span import Span

TEXTS = (
    "Write to info@example.com.",
    "",
    "Call +44 20 7946 0958 tomorrow.",
    "The search service stores its documents in Postgres.",
    "paid with [REDACTED:cc] and 4111 1111 1111 1111",
)


@dataclass
class Names:
    """Takes a fixed word for a name, many texts at once; `asked` counts them. Raises on a text with `unreadable`."""

    name: str = "names"
    classes: frozenset[str] = frozenset({"person"})
    asked: list[int] = field(default_factory=list)

    def detect(self, text: str) -> Sequence[Span]:
        return self.detect_many([text])[0]

    def detect_many(self, texts: Sequence[str]) -> list[list[Span]]:
        self.asked.append(len(texts))
        if any("unreadable" in text for text in texts):
            raise MemoryError
        return [
            [Span(at, at + 8, "person", 0.9, self.name)] if (at := text.find("Postgres")) >= 0 else [] for text in texts
        ]


def test_together_as_alone() -> None:
    names = Names()
    together = inspect_many(TEXTS, (*ALL, names))
    assert names.asked == [len(TEXTS)]
    assert together == [inspect(text, (*ALL, names)) for text in TEXTS]
    assert [sorted(one.classes) for one in together] == [["email"], [], ["phone"], ["person"], ["cc"]]


def test_an_inspector_asks_once_for_what_it_knew_ahead() -> None:
    names = Names()
    ask = Inspector((*ALL, names), ahead=[*TEXTS, *TEXTS])
    assert [ask(text) for text in TEXTS] == inspect_many(TEXTS, (*ALL, names))
    assert names.asked == [len(TEXTS), len(TEXTS)]
    assert ask("Postgres").classes == {"person"}  # unknown until now
    assert ask("Postgres").classes == {"person"}
    assert names.asked == [len(TEXTS), len(TEXTS), 1]


def test_what_cannot_be_read_fails_alone() -> None:
    ask = Inspector((*ALL, Names()), ahead=[*TEXTS, "unreadable"])
    with pytest.raises(DetectorDown, match="detector names raised MemoryError"):
        ask("unreadable")
    assert [ask(text) for text in TEXTS] == inspect_many(TEXTS, (*ALL, Names()))


def test_a_detector_that_leaves_a_text_out_is_down() -> None:
    class Short(Names):
        def detect_many(self, texts: Sequence[str]) -> list[list[Span]]:
            return super().detect_many(texts[1:])

    with pytest.raises(DetectorDown, match="names raised ValueError"):
        inspect_many(TEXTS, [Short()])
