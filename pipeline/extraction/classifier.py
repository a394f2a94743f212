"""What server code says about a candidate: kind, stakes, importance, subject, scope, lifetime, author.

Deterministic, after the model. The model's kind is a claim: text may raise it (fact to preference or rule, preference
to rule), nothing lowers it, because rules are always reviewed and a lowered one would escape.

Importance, 1 to 5: 2 for any candidate; +1 for a preference or rule; +1 for high stakes; +1 when the user's own words
bear it out; -1 when nothing does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.candidate import Candidate, Kind
from pipeline.extraction.evidence import EvidenceFinding
from pipeline.extraction.wording import rules
from pipeline.extraction.wording.instructions import steering
from pipeline.extraction.wording.stakes import stakes
from pipeline.memory import AuthorKind, HoldReason, Scope, ScopeKind, Subject
from pipeline.retention import kept_days
from pipeline.session import Trust, normalised


@dataclass(frozen=True, slots=True)
class Classification:
    """Everything about a candidate that no model decides. `stakes` names the areas that make it high."""

    kind: Kind
    stakes: tuple[str, ...]
    importance: int
    subject: Subject | None
    scope: Scope
    lifetime_days: int
    author_kind: AuthorKind
    author: str
    hold_reasons: tuple[HoldReason, ...]

    @property
    def high_stakes(self) -> bool:
        return bool(self.stakes)


def classify(candidate: Candidate, finding: EvidenceFinding, *, agent: str, user: str | None) -> Classification:
    """`agent` and `user` as the event names them; `user` None where nobody is known."""
    own = [item for item in finding.verified if item.trust is Trust.USER]
    speakers = {normalised(item.name) for item in own if item.name}
    own_words = bool(own)
    kind = _kind(candidate, own_words)
    areas = stakes(candidate.content)
    person = user if own and not speakers else None
    return Classification(
        kind=kind,
        stakes=areas,
        importance=_importance(kind, bool(areas), own_words, bool(finding.verified)),
        subject=_subject(candidate, finding, person, speakers),
        scope=_scope(kind, agent, user),
        lifetime_days=kept_days(kind, {}),
        author_kind=AuthorKind.PERSON if person else AuthorKind.AGENT,
        author=person or agent,
        hold_reasons=_hold_reasons(candidate, areas),
    )


def _kind(candidate: Candidate, own_words: bool) -> Kind:
    if candidate.kind is Kind.RULE or rules.is_rule(candidate.content):
        return Kind.RULE
    if candidate.kind is Kind.PREFERENCE or rules.is_preference(candidate.content, own_words):
        return Kind.PREFERENCE
    return Kind.FACT


def _importance(kind: Kind, high_stakes: bool, own_words: bool, supported: bool) -> int:
    return 2 + (kind is not Kind.FACT) + high_stakes + own_words - (not supported)


def _subject(candidate: Candidate, finding: EvidenceFinding, person: str | None, speakers: set[str]) -> Subject | None:
    """Who said it: the user, or whoever of several people spoke, by name; else the hint, if it stands in the quotes."""
    if person:
        return Subject("user", person)
    if len(speakers) == 1:
        return Subject("person", next(iter(speakers)))
    hint = normalised(candidate.subject_hint or "")
    if len(hint) < 2:
        return None
    whole = re.compile(rf"(?<!\w){re.escape(hint)}(?!\w)")
    stands = any(whole.search(normalised(item.quote)) for item in finding.verified)
    return Subject("person", hint) if stands else None


def _scope(kind: Kind, agent: str, user: str | None) -> Scope:
    """A preference belongs to its user; where nobody is known, to the agent that heard it, never to everyone."""
    if kind is not Kind.PREFERENCE:
        return Scope(ScopeKind.ORG)
    return Scope(ScopeKind.USER, user) if user else Scope(ScopeKind.AGENT, agent)


def _hold_reasons(candidate: Candidate, areas: tuple[str, ...]) -> tuple[HoldReason, ...]:
    shown = (candidate.content, candidate.rationale, candidate.subject_hint or "")
    return text_reasons(areas, tuple(form for text in shown for form in steering(text)))


def text_reasons(areas: tuple[str, ...], forms: tuple[str, ...]) -> tuple[HoldReason, ...]:
    """Why words alone hold a candidate: the areas they touch, and the forms of steering in what a reader is shown."""
    by_words = {HoldReason.HIGH_STAKES: areas, HoldReason.INSTRUCTION_LIKE: forms}
    return tuple(reason for reason, found in by_words.items() if found)
