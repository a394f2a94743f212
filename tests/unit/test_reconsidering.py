"""What today's detectors and gate make of a stored memory: a table of cases, and what never happens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.memory import HoldReason, Subject
from pipeline.reconsidering import Move, Policy, Stored, reevaluate, rescan
from pipeline.redaction.redactor import Inspector
from pipeline.redaction.span import Span
from pipeline.states import MemoryStatus

R = HoldReason
ANA = Subject("person", "ana silva")
PLAIN = "The search service stores its documents in Postgres."


KNOWN = {"key-1": "secret", "key-2": "secret", "room": "address", "port": "ip"}


class Words:
    """Finds `key-...` as a secret (HIGH), `room` as an address (LOW), `port` as an ip (LOW)."""

    name, classes = "words", frozenset(KNOWN.values())

    def detect(self, text: str) -> Sequence[Span]:
        found = re.finditer("|".join(KNOWN), text)
        return [Span(match.start(), match.end(), KNOWN[match.group()], 1.0, self.name) for match in found]


INSPECT = Inspector((Words(),))


def stored(content: str = PLAIN, status: str = "active", classes: str = "", reasons: str = "", **more: Any) -> Stored:
    plain = Stored(
        status=MemoryStatus(status), kind="fact", content=content, rationale="said", evidence=[{"quote": "as said"}],
        classes=frozenset(classes.split()), reasons=frozenset(map(R, reasons.split())), subject=ANA,
    )  # fmt: skip
    return replace(plain, **more)


RESCANS: list[tuple[str, Stored, Move, str, str]] = [
    ("nothing new", stored(), Move.KEEP, "", ""),
    ("HIGH", stored("the key-1"), Move.HOLD, "secret", "class_found"),
    ("HIGH in a quote", stored(evidence=[{"quote": "the key-1"}]), Move.HOLD, "secret", "class_found"),
    ("HIGH in the rationale", stored(rationale="the key-1"), Move.HOLD, "secret", "class_found"),
    ("HIGH as the subject", stored(subject=Subject("person", "key-1")), Move.HOLD, "", "class_found"),
    ("LOW", stored("the room"), Move.HOLD, "address", "class_found"),
    ("LOW about nobody", stored("the room", subject=None), Move.HOLD, "address", "class_found subject_missing"),
    ("LOW that a person let in", stored("the room", classes="address"), Move.KEEP, "address", ""),
    ("one more class", stored("the room port", classes="address"), Move.HOLD, "address ip", "class_found"),
    ("one more of a class", stored("[REDACTED:secret] key-2", classes="secret"), Move.HOLD, "secret", "class_found"),
    ("a mask that is known", stored("[REDACTED:secret]", classes="secret"), Move.KEEP, "secret", ""),
    ("held, nothing new", stored("the room", "pending", "address", "class_found"), Move.KEEP, "address", "class_found"),
    ("held for a rule", stored("the key-1", "pending", "", "rule", kind="rule"), Move.REVISE, "secret",
     "class_found rule"),
    ("no longer found", stored(PLAIN, "pending", "address", "class_found"), Move.KEEP, "address", "class_found"),
    ("waited, and is clean", stored(PLAIN, "pending", "detector_unavailable", "detector_unavailable"), Move.RELEASE,
     "", ""),
    ("waited, and is not", stored("the room", "pending", "detector_unavailable", "detector_unavailable"), Move.REVISE,
     "address", "class_found"),
    ("waited, and more", stored(PLAIN, "pending", "detector_unavailable", "detector_unavailable undated"), Move.REVISE,
     "", "undated"),
    ("waited, a rule by its words", stored("Always run the tests before a release.", "pending", "detector_unavailable",
                                           "detector_unavailable"), Move.REVISE, "", "rule"),
    ("waited, and would retire others", stored(PLAIN, "pending", "detector_unavailable", "detector_unavailable",
                                               replaces=True), Move.REVISE, "", "retires_active"),
    ("rejected with HIGH", stored("the key-1", "rejected"), Move.ERASE, "", ""),
    ("superseded with HIGH", stored("the key-1", "superseded"), Move.ERASE, "", ""),
    ("forgotten with HIGH", stored("the key-1", "tombstoned"), Move.ERASE, "", ""),
    ("rejected with LOW", stored("the room", "rejected"), Move.KEEP, "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "move", "classes", "reasons"), [case[1:] for case in RESCANS],
                         ids=[case[0] for case in RESCANS])  # fmt: skip
def test_a_rescan(memory: Stored, move: Move, classes: str, reasons: str) -> None:
    new = rescan(memory, INSPECT, Policy())
    assert (new.move, set(new.classes), set(new.reasons)) == (move, set(classes.split()), set(map(R, reasons.split())))


@pytest.mark.parametrize("content", [PLAIN, "the room"])
def test_while_a_class_is_uncovered_nothing_is_released(content: str) -> None:
    memory = stored(content, "pending", "detector_unavailable", "detector_unavailable")
    new = rescan(memory, INSPECT, Policy(uncovered=frozenset({"person"})))
    assert new.move is not Move.RELEASE
    assert R.DETECTOR_UNAVAILABLE in new.reasons
    assert "detector_unavailable" in new.classes


def test_a_missing_detector_takes_nothing_active_back() -> None:
    policy = Policy(uncovered=frozenset({"person"}))
    assert rescan(stored(), INSPECT, policy).move is Move.KEEP
    assert reevaluate(stored(), INSPECT, policy).move is Move.KEEP


def test_a_class_the_org_lets_in_is_noted_and_one_it_does_not_is_held() -> None:
    policy = Policy(activatable=frozenset({"address"}))
    assert rescan(stored("the room"), INSPECT, policy).move is Move.NOTE
    assert rescan(stored("the room port"), INSPECT, policy).move is Move.HOLD
    assert rescan(stored("the room", subject=None), INSPECT, policy).move is Move.HOLD


SIGNED = "Always run the tests before a release."
REEVALUATIONS: list[tuple[str, Stored, Move, str]] = [
    ("nothing differs", stored(), Move.KEEP, ""),
    ("its words make it a rule today", stored(SIGNED), Move.HOLD, "rule"),
    ("a person let it in", stored(SIGNED, let_in=True), Move.KEEP, ""),
    ("a person let it in, HIGH", stored("the key-1", let_in=True), Move.HOLD, "class_found"),
    ("held for what is no longer found", stored(PLAIN, "pending", "address", "class_found"), Move.RELEASE, ""),
    ("held for where it came from", stored(PLAIN, "pending", "address", "class_found untrusted_source"), Move.REVISE,
     "untrusted_source"),
    ("a person's edit waits for a person", stored(PLAIN, "pending", "", "edited"), Move.KEEP, "edited"),
    ("rejected", stored(SIGNED, "rejected"), Move.KEEP, ""),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "move", "reasons"), [case[1:] for case in REEVALUATIONS],
                         ids=[case[0] for case in REEVALUATIONS])  # fmt: skip
def test_a_reevaluation(memory: Stored, move: Move, reasons: str) -> None:
    new = reevaluate(memory, INSPECT, Policy())
    assert (new.move, set(new.reasons)) == (move, set(map(R, reasons.split())))


PARTS = st.lists(st.sampled_from(["the", "key-1", "key-2", "room", "port", "[REDACTED:secret]", "said."]), min_size=1)
TEXTS = PARTS.map(" ".join)
MEMORIES = st.builds(
    Stored, status=st.sampled_from(MemoryStatus), kind=st.sampled_from(["fact", "preference", "rule"]), content=TEXTS,
    rationale=TEXTS, evidence=st.lists(TEXTS.map(lambda text: {"quote": text}), max_size=2),
    classes=st.frozensets(st.sampled_from(["secret", "address", "ip", "detector_unavailable"])),
    reasons=st.frozensets(st.sampled_from(HoldReason)), subject=st.sampled_from([None, ANA]), let_in=st.booleans(),
    replaces=st.booleans(),
)  # fmt: skip
POLICIES = st.builds(
    Policy, uncovered=st.sampled_from([frozenset(), frozenset({"person"})]),
    activatable=st.frozensets(st.sampled_from(["address", "ip"])),
)  # fmt: skip


@given(MEMORIES, POLICIES, st.sampled_from([rescan, reevaluate]))
def test_high_never_stays_and_a_second_look_finds_nothing_more(memory: Stored, policy: Policy, consider: Any) -> None:
    new = consider(memory, INSPECT, policy)
    assert "key-" not in "".join((new.content, new.rationale, *(item["quote"] for item in new.evidence)))
    if new.move is Move.KEEP:
        assert not new.masked, "what is kept as it is holds no HIGH"
    if new.move in (Move.HOLD, Move.REVISE):
        assert new.reasons, "what waits has a reason"
        waits = replace(
            memory, status=MemoryStatus.PENDING, content=new.content, rationale=new.rationale, evidence=new.evidence,
            classes=frozenset(new.classes), reasons=frozenset(new.reasons), subject=new.subject,
        )  # fmt: skip
        assert rescan(waits, INSPECT, policy).move in (Move.KEEP, Move.RELEASE)


@given(MEMORIES, POLICIES)
def test_a_rescan_lets_in_only_what_waited_for_a_detector(memory: Stored, policy: Policy) -> None:
    new = rescan(memory, INSPECT, policy)
    if new.move is Move.RELEASE:
        assert memory.status is MemoryStatus.PENDING
        assert memory.reasons == {R.DETECTOR_UNAVAILABLE}
        assert not policy.uncovered
        assert not memory.replaces
        assert set(new.classes) <= policy.activatable
