"""Which confidence is dropped, and what a threshold must show before it may be loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.dropping import Dropping, Record, missing, parse_thresholds, refuse_unearned
from pipeline.errors import SettingError
from pipeline.extraction import stamp as stamps
from pipeline.extraction.stamp import rules_revision, stamp
from pipeline.retention import REGISTRY

BY = {"provider": "openai", "model": "org/model-4"}
EARNED = Record("openai/org/model-4", 0.4, "extraction@1", verdicts=11, samples=1, right=1, waiting=0)


@pytest.mark.parametrize(
    ("confidence", "misses"), [(None, None), (0.0, 0.4), (0.39, 0.4), (0.4, None), (0.41, None), (1.0, None)]
)
def test_what_is_stated_below_misses_it(confidence: float | None, misses: float | None) -> None:
    dropping = Dropping(parse_thresholds("openai/org/model-4=0.4"))
    assert dropping.threshold_above(confidence, BY) == misses
    assert dropping.threshold_above(confidence, BY | {"model": "another"}) is None
    assert Dropping().threshold_above(confidence, BY) is None


@pytest.mark.parametrize("share", [0, -1, 10_001])
def test_a_share_of_none_is_refused(share: int) -> None:
    with pytest.raises(ValueError, match="basis points"):
        Dropping(review_share=share)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not of the form"), ("openai=0.4", "not of the form"), ("openai/m", "not of the form"),
        ("openai/m=", "no confidence"), ("openai/m=0", "no confidence"), ("openai/m=1", "no confidence"),
        ("openai/m=nan", "no confidence"), ("openai/m=high", "no confidence"), ("openai/m=0.4,", "not of the form"),
        ("openai/m=0.4,openai/m=0.5", "stands twice"),
    ],
)  # fmt: skip
def test_thresholds_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_thresholds(text)


def test_thresholds_are_read_by_stamp() -> None:
    assert parse_thresholds("openai/org/model-4=0.4, offline/rules=0.25") == {
        "openai/org/model-4": 0.4, "offline/rules": 0.25}  # fmt: skip
    assert stamp(BY) == "openai/org/model-4"


LACKS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, []),
    "a verdict": ({"verdicts": 10}, ["1 more verdicts"]),
    "samples": ({"samples": 0}, ["an answer about what it drops"]),
    "an eraser": ({"erasable": False}, ["an eraser that reaches"]),
    "answers in time": ({"waiting": 3}, ["answers to 3 samples"]),
    "everything": ({"verdicts": 0, "samples": 0, "waiting": 1}, ["11 more verdicts", "an answer", "answers to 1"]),
}


@pytest.mark.parametrize(("change", "lacks"), LACKS.values(), ids=LACKS)
def test_what_is_missing_is_named(change: dict[str, Any], lacks: list[str]) -> None:
    record = replace(EARNED, **change)
    found = missing(record)
    assert len(found) == len(lacks)
    assert all(said.startswith(lack) for said, lack in zip(found, lacks, strict=True))
    if lacks:
        with pytest.raises(SettingError, match="AFTERWORD_CONFIDENCE_THRESHOLDS: openai/org/model-4="):
            refuse_unearned([EARNED, record])
    else:
        refuse_unearned([EARNED, record])


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        (None, "the store of drops"), ({"purpose": ""}, "a purpose of"), ({"org": None}, "an org column of"),
        ({"eraser": ""}, "an eraser of"), ({"keeps": None}, "an end of"), ({"dated": None}, "an end of"),
    ],
)  # fmt: skip
def test_a_store_that_the_registry_does_not_know_how_to_erase(change: dict[str, Any] | None, lack: str) -> None:
    rest = [item for item in REGISTRY if item.table != "drops"]
    (drops,) = [item for item in REGISTRY if item.table == "drops"]
    registry = rest if change is None else [*rest, replace(drops, **change)]
    assert missing(EARNED) == []
    (said,) = missing(EARNED, registry)
    assert said.startswith(lack)


def test_an_edited_rule_is_another_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in stamps.RULES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
    for name in ("gate.py", "extraction/classifier.py", "extraction/evidence.py", "extraction/wording.py"):
        (tmp_path / name).write_text("a rule")
    monkeypatch.setattr(stamps, "files", lambda package: tmp_path)
    seen = []
    for name in ("gate.py", "extraction/wording.py"):
        rules_revision.cache_clear()
        seen.append(rules_revision())
        (tmp_path / name).write_text("another rule")
    rules_revision.cache_clear()
    seen.append(rules_revision())
    rules_revision.cache_clear()
    assert len(set(seen)) == 3


def test_every_rule_that_is_named_is_there() -> None:
    package = Path(stamps.__file__).parents[1]
    assert [
        name for name in stamps.RULES if not (package / name).exists() and not (package / f"{name}.py").exists()
    ] == []
