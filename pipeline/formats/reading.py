"""The accounting all readers share: parts of a record in, turns and counts out.

A reader turns each record into parts: something said, something skipped by name, something unknown. One part that
is said makes the record read; else a skipped one makes it ignored; else it is unread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.formats.injected import cut
from pipeline.formats.reader import ReadResult, Unread
from pipeline.formats.shape import instant, string
from pipeline.session import Role, Transcript, Trust, Turn, storable

TURN_CHARS_MAX = 65_536
"""Longer texts are cut in the middle: no turn of speech is that long, and a tool's error stands at its end."""

TAIL_CHARS = 16_384
"""How much of a text over the cap is kept from its end."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks and whose words they are."""

    role: Role
    trust: Trust


USER = Voice(Role.USER, Trust.USER)
AGENT = Voice(Role.ASSISTANT, Trust.AGENT)
TOOL = Voice(Role.TOOL, Trust.UNTRUSTED)
SYSTEM = Voice(Role.SYSTEM, Trust.UNTRUSTED)
"""Prompts and notices: no user said them and the agent did not either, so they are evidence for nothing."""


@dataclass(frozen=True, slots=True)
class Said:
    voice: Voice
    text: str
    tool: str | None = None
    at: datetime | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Content left out on purpose, under the name it is counted by."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Content no reader rule covers."""

    reason: str


Part = Said | Skipped | Unknown


def capped(text: str) -> str:
    """`text`, or its two ends with a marker that says how many characters were cut between them."""
    if len(text) <= TURN_CHARS_MAX:
        return text
    head = TURN_CHARS_MAX - TAIL_CHARS
    return f"{text[:head]}\n[… {len(text) - TURN_CHARS_MAX} characters cut …]\n{text[-TAIL_CHARS:]}"


class Reading:
    """One log being read; `agent` is the program that wrote it unless the log names another."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._names: dict[str, str] = {}
        self._turns: list[Turn] = []
        self._ignored: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._unread: list[Unread] = []
        self._times: tuple[datetime, datetime] | None = None
        self._records = self._read = 0

    def names(self, **fields: Any) -> None:
        """session, project, user, agent: the first non-empty text of each stays."""
        for key, value in fields.items():
            if string(value).strip():
                self._names.setdefault(key, storable(value))

    def time(self, value: Any) -> datetime | None:
        """The moment `value` writes, remembered for the session's span."""
        moment = instant(value)
        if moment:
            first, last = self._times or (moment, moment)
            self._times = (min(first, moment), max(last, moment))
        return moment

    def fail(self, number: int, reason: str) -> None:
        """A record that is not even a record."""
        self._records += 1
        self._unread.append(Unread(number, reason))

    def record(self, number: int, parts: Iterable[Part], at: datetime | None = None) -> None:
        """Account for one record by its parts."""
        skipped: list[str] = []
        reasons: list[str] = []
        before = len(self._turns)
        for part in parts:
            if isinstance(part, Said):
                skipped += self._say(part, at)
            elif isinstance(part, Skipped):
                skipped.append(part.kind)
            else:
                reasons.append(part.reason)
        self._records += 1
        self._settle(number, len(self._turns) > before, skipped, reasons)

    def _say(self, part: Said, at: datetime | None) -> list[str]:
        text, blocks = cut(part.text)
        left_out = ["injected"] * blocks
        if not text.strip():
            return left_out or ["empty"]
        if len(text) > TURN_CHARS_MAX:
            left_out.append("text over the cap")
        voice = part.voice
        self._turns.append(
            Turn(
                role=voice.role,
                text=capped(text),
                tool=part.tool,
                name=part.name,
                at=part.at or at,
                trust=voice.trust,
            )
        )
        return left_out

    def _settle(self, number: int, spoke: bool, skipped: list[str], reasons: list[str]) -> None:
        if spoke:
            self._read += 1
            self._left_out.update(skipped + ["unknown content"] * len(reasons))
        elif skipped and not reasons:
            self._ignored[skipped[0]] += 1
        else:
            self._unread.append(Unread(number, reasons[0] if reasons else "a record without content"))

    def result(self) -> ReadResult:
        first, last = self._times or (None, None)
        return ReadResult(
            transcript=Transcript(turns=tuple(self._turns)),
            agent=self._names.get("agent", self._agent),
            session=self._names.get("session"),
            project=self._names.get("project"),
            user=self._names.get("user"),
            started_at=first,
            ended_at=last,
            records=self._records,
            read=self._read,
            ignored=dict(self._ignored),
            unread=tuple(self._unread),
            left_out=dict(self._left_out),
        )
