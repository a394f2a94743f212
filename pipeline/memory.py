"""A governed item as the pipeline drafts it, before Postgres decides whether it may be written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pipeline.session import normalised


class Tier(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


TURN = "turn"
"""The kind of what was said; no model proposes one, so it is none of `candidate.Kind`."""


class ScopeKind(StrEnum):
    ORG = "org"
    USER = "user"
    AGENT = "agent"
    PROJECT = "project"
    WORKFLOW = "workflow"
    OBJECT = "object"


class AuthorKind(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    SYSTEM = "system"


class HoldReason(StrEnum):
    """Why the gate waits for a person; closed, so that it can label a metric."""

    CLASS_FOUND = "class_found"  # a detector hit, or a mask left by the scrub; the classes say which
    DETECTOR_UNAVAILABLE = "detector_unavailable"  # a required class no healthy detector covers
    UNSUPPORTED = "unsupported"  # no evidence, or a quote that is not in the turn it names
    UNDATED = "undated"  # nobody said when it was true and the session has no time
    UNTRUSTED_SOURCE = "untrusted_source"  # evidence only from tool output, web pages or file content
    INSTRUCTION_LIKE = "instruction_like"  # text aimed at steering later sessions
    HIGH_STAKES = "high_stakes"  # credentials, money, law, medicine, employment, safety, deletion
    SUBJECT_MISSING = "subject_missing"  # personal, and it names nobody
    RULE = "rule"  # rules are never active unreviewed
    AGENT_PROPOSAL = "agent_proposal"  # a proposal or note that would be a rule or preference
    FAILED_SESSION = "failed_session"  # rules and preferences of a session that failed
    RETIRES_ACTIVE = "retires_active"  # would take the place of an active memory
    REJECTED_BEFORE = "rejected_before"  # a person kept this text out earlier; the review cites that memory
    EDITED = "edited"  # a person changed the text; waits for the approval


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a memory is about: ('person', 'ana silva'), ('user', 'u-17')."""

    type: str
    id: str


@dataclass(frozen=True, slots=True)
class Scope:
    kind: ScopeKind
    value: str | None = None  # None only for ORG


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """Everything a new row of `memories` needs that is not the database's own to say."""

    id: UUID
    run_id: UUID
    org_id: int
    tier: Tier
    kind: str
    scope: Scope
    content: str
    rationale: str
    evidence: list[dict[str, Any]]
    classes: tuple[str, ...]
    hold_reasons: tuple[HoldReason, ...]
    subject: Subject | None
    author_kind: AuthorKind
    author: str
    provenance: dict[str, Any]
    high_stakes: bool
    importance: int
    observed_at: datetime
    expires_at: datetime
    confidence: float | None = None
    replaces: tuple[UUID, ...] = field(default=())
    cites: UUID | None = None
    namespace: str = "default"

    @property
    def held(self) -> bool:
        return bool(self.hold_reasons)


def content_hash(content: str) -> bytes:
    """SHA-256 of the normalised content; 32 bytes. Two memories with one hash say the same."""
    return hashlib.sha256(normalised(content).encode()).digest()
