"""The gate escalates only, and drops nothing in which a class was found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.candidate import Kind
from pipeline.gate import Activate, Decision, Drop, DropRule, GateInput, Hold, decide
from pipeline.memory import AuthorKind, HoldReason, Subject
from pipeline.redaction.classes import REQUIRED_BY_DEFAULT

H = HoldReason
SOMEBODY = Subject("user", "u-17")
CLEAN = GateInput(
    kind=Kind.FACT,
    classes=frozenset(),
    reasons=frozenset(),
    uncovered=frozenset(),
    subject=None,
    author_kind=AuthorKind.SYSTEM,
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, Activate()),
        ({"kind": Kind.PREFERENCE}, Activate()),
        ({"kind": "turn"}, Activate()),
        ({"kind": Kind.RULE}, Hold((H.RULE,))),
        ({"kind": "a_kind_of_tomorrow"}, Hold((H.RULE,))),
        ({"classes": {"secret"}}, Hold((H.CLASS_FOUND,), ("secret",))),
        ({"classes": {"email"}}, Hold((H.CLASS_FOUND, H.SUBJECT_MISSING), ("email",))),
        ({"classes": {"phone"}, "subject": SOMEBODY}, Hold((H.CLASS_FOUND,), ("phone",))),
        ({"classes": {"phone"}, "subject": SOMEBODY, "activatable": {"phone"}}, Activate(("phone",))),
        ({"classes": {"phone"}, "activatable": {"phone"}}, Hold((H.CLASS_FOUND, H.SUBJECT_MISSING), ("phone",))),
        (
            {"classes": {"phone", "ip"}, "subject": SOMEBODY, "activatable": {"phone"}},
            Hold((H.CLASS_FOUND,), ("ip", "phone")),
        ),
        ({"classes": {"email"}, "subject": SOMEBODY, "activatable": {"email"}}, Hold((H.CLASS_FOUND,), ("email",))),
        ({"classes": {"new"}, "subject": SOMEBODY, "activatable": {"new"}}, Hold((H.CLASS_FOUND,), ("new",))),
        ({"uncovered": {"person"}}, Hold((H.DETECTOR_UNAVAILABLE,), ("detector_unavailable",))),
        (
            {"uncovered": {"person"}, "subject": SOMEBODY, "activatable": {"person", "detector_unavailable"}},
            Hold((H.DETECTOR_UNAVAILABLE,), ("detector_unavailable",)),
        ),
        ({"reasons": {H.UNDATED, H.UNSUPPORTED}}, Hold((H.UNSUPPORTED, H.UNDATED))),
        ({"kind": Kind.PREFERENCE, "author_kind": AuthorKind.AGENT}, Hold((H.AGENT_PROPOSAL,))),
        ({"kind": Kind.RULE, "author_kind": AuthorKind.AGENT}, Hold((H.RULE, H.AGENT_PROPOSAL))),
        ({"author_kind": AuthorKind.AGENT}, Activate()),
        ({"session_failed": True}, Activate()),
        ({"kind": Kind.PREFERENCE, "session_failed": True}, Hold((H.FAILED_SESSION,))),
        ({"kind": Kind.RULE, "session_failed": True}, Hold((H.RULE, H.FAILED_SESSION))),
        ({"drop_rule": DropRule.CONFIDENCE_BELOW}, Drop(DropRule.CONFIDENCE_BELOW)),
        ({"drop_rule": DropRule.CONFIDENCE_BELOW, "classes": {"secret"}}, Hold((H.CLASS_FOUND,), ("secret",))),
        (
            {
                "drop_rule": DropRule.CONFIDENCE_BELOW,
                "classes": {"phone"},
                "subject": SOMEBODY,
                "activatable": {"phone"},
            },
            Hold((H.CLASS_FOUND,), ("phone",)),
        ),
    ],
)
def test_decisions(change: dict[str, object], expected: Decision) -> None:
    frozen = {key: frozenset(value) if isinstance(value, set) else value for key, value in change.items()}
    assert decide(replace(CLEAN, **frozen)) == expected  # type: ignore[arg-type]


def test_a_drop_refuses_a_class_set_that_is_not_empty() -> None:
    with pytest.raises(ValueError, match="secret"):
        Drop(DropRule.CONFIDENCE_BELOW, frozenset({"secret"}))


def test_a_hold_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="reason"):
        Hold(())


some_classes = st.frozensets(st.sampled_from([*sorted(REQUIRED_BY_DEFAULT), "unheard_of"]), max_size=3)
cases = st.builds(
    GateInput,
    kind=st.sampled_from([*Kind, "turn"]),
    classes=some_classes,
    reasons=st.frozensets(st.sampled_from(HoldReason), max_size=2),
    uncovered=some_classes,
    subject=st.none() | st.just(SOMEBODY),
    author_kind=st.sampled_from(AuthorKind),
    activatable=some_classes,
    session_failed=st.booleans(),
)


@given(cases, some_classes, st.frozensets(st.sampled_from(HoldReason), max_size=2))
def test_more_found_never_frees_what_was_held(
    case: GateInput, classes: frozenset[str], reasons: frozenset[HoldReason]
) -> None:
    more = replace(case, classes=case.classes | classes, reasons=case.reasons | reasons)
    before, after = decide(case), decide(more)
    if isinstance(before, Hold):
        assert isinstance(after, Hold)
        assert set(before.reasons) <= set(after.reasons)


@given(cases)
def test_nothing_personal_is_active_without_a_subject(case: GateInput) -> None:
    if isinstance(decide(case), Activate):
        assert not case.classes or case.subject is not None
        assert not case.uncovered
        assert case.kind != Kind.RULE
