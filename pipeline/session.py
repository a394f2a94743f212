"""The session-end event and the transcript it carries: what comes in, before anything is decided.

    session log --formats--> Transcript --SessionEnded--> stream --ingest--> run

Everything here is a value: no clock, no I/O. Field names of `SessionEnded` are the wire format v1 of the
stream's one field `event`.
"""

from __future__ import annotations

import hashlib
import unicodedata
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024


class Role(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Trust(StrEnum):
    """Whose words a turn holds; evidence only from UNTRUSTED turns never becomes memory unreviewed."""

    USER = "user"  # a person's own words
    AGENT = "agent"  # the agent's words, proposals and notes included
    UNTRUSTED = "untrusted"  # tool output, web page, file content, anything else


class Turn(BaseModel):
    """One utterance: role, text, the tool that spoke (role `tool`), the speaker's name where a session has several
    people, when, and whose words they are.

    `trust` is the sender's claim, lowered where the role cannot bear it, by whatever way the turn comes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role
    text: str
    tool: str | None = None
    name: str | None = Field(default=None, max_length=200)
    at: AwareDatetime | None = None
    trust: Trust

    @field_validator("text", "tool", "name")
    @classmethod
    def _storable(cls, value: str | None) -> str | None:
        return None if value is None else storable(value)

    @field_validator("trust")
    @classmethod
    def _borne(cls, value: Trust, found: ValidationInfo) -> Trust:
        """What a tool or a system says is untrusted, and an assistant's words are never a person's."""
        role = found.data.get("role")
        if role in (Role.TOOL, Role.SYSTEM):
            return Trust.UNTRUSTED
        return Trust.AGENT if role is Role.ASSISTANT and value is Trust.USER else value

    def by_an_agent(self) -> Turn:
        """The same as an agent's words, whoever is said to have spoken."""
        return self.model_copy(update={"trust": Trust.AGENT}) if self.trust is Trust.USER else self


class Transcript(BaseModel):
    """The turns of one session in order; a turn's number is its index."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turns: tuple[Turn, ...] = ()

    @property
    def last_at(self) -> datetime | None:
        """Time of the last turn that has one."""
        return next((turn.at for turn in reversed(self.turns) if turn.at), None)

    @cached_property
    def is_among_several(self) -> bool:
        """Do more people than one speak, by the names of their turns? Only then does a name say who it was."""
        return len({normalised(turn.name) for turn in self.turns if turn.name and turn.trust is Trust.USER}) > 1

    def speaker(self, number: int) -> str | None:
        """Who of several people spoke a turn; None where it was the session's one user, or no person."""
        turn = self.turns[number]
        return turn.name if turn.trust is Trust.USER and self.is_among_several else None


class EventKind(StrEnum):
    """What an event on the stream may be; other kinds of run are opened inside Postgres."""

    SESSION = "session"
    PROPOSAL = "proposal"
    NOTE = "note"


class ObjectRef(BaseModel):
    """The business object a session was about."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str = Field(min_length=1, max_length=100)
    id: str = Field(min_length=1, max_length=200)


Name = str


class SessionEnded(BaseModel):
    """Event v1. The transcript is inline, zstd+base64 in `transcript_zstd` over 64 kB, or an `https:` address."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    v: Literal[1] = 1
    kind: EventKind = EventKind.SESSION
    event_id: str | None = Field(default=None, min_length=1, max_length=200)
    org: str = Field(min_length=1, max_length=100)
    session: str = Field(min_length=1, max_length=200)
    agent: str = Field(min_length=1, max_length=200)
    role: str | None = Field(default=None, max_length=100)
    parent_session: str | None = Field(default=None, max_length=200)
    project: str | None = Field(default=None, max_length=200)
    user: str | None = Field(default=None, max_length=200)
    participants: tuple[str, ...] = Field(default=(), max_length=100)
    workflow: str | None = Field(default=None, max_length=200)
    mission: str | None = Field(default=None, max_length=200)
    object: ObjectRef | None = None
    spaces: tuple[str, ...] = Field(default=(), max_length=50)
    ended_at: AwareDatetime
    outcome: Literal["succeeded", "failed", "unknown"] | None = None
    transcript: Transcript | None = None
    transcript_zstd: str | None = None
    transcript_url: str | None = Field(default=None, pattern=r"^https://", max_length=2000)


def storable(text: str) -> str:
    """`text` with what Postgres and UTF-8 cannot hold made visible: NUL becomes U+2400, a lone surrogate U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def normalised(text: str) -> str:
    """NFKC, case folded, white space collapsed: the form in which evidence and repeats are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def transcript_hash(transcript: Transcript) -> bytes:
    """SHA-256 over role and normalised text of each turn; 32 bytes. Times do not count."""
    digest = hashlib.sha256()
    for turn in transcript.turns:
        digest.update(f"{turn.role}\x1f{normalised(turn.text)}\x1e".encode())
    return digest.digest()


def event_key(event: SessionEnded, content_hash: bytes) -> str:
    """The sender's id, else the hash of (org, session, hash of the transcript): one key, one run."""
    if event.event_id:
        return event.event_id
    material = f"{event.org}\x1f{event.session}\x1f".encode() + content_hash
    return "sha256:" + hashlib.sha256(material).hexdigest()


def ended_at(transcript: Transcript, fallback: datetime) -> datetime:
    """When the session ended: its last turn's time, else `fallback` (a file's time); never the clock."""
    return (transcript.last_at or fallback).astimezone(UTC)


def run_metadata(event: SessionEnded) -> dict[str, Any]:
    """The event without its transcript, as stored beside the run."""
    return event.model_dump(mode="json", exclude={"transcript", "transcript_zstd", "transcript_url"}, exclude_none=True)
