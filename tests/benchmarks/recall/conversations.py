"""LoCoMo as sessions that end: who said what when, what a good extractor would have proposed, and what is asked.

A turn's number in its session is its place there, so that `D3:7` is turn 6 of session D3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.session import Role, Transcript, Trust, Turn

AGENT = "companion"
QUOTE_CHARACTERS = 500
_WHEN = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Observed:
    """One observation: who it is about, and the turns of its session that bear it out."""

    about: str
    text: str
    turns: tuple[int, ...]


@dataclass(frozen=True)
class Talk:
    """One session of a conversation: its name is that of its turn ids, `D3`."""

    name: str
    transcript: Transcript
    observations: tuple[Observed, ...]

    def event(self, org: str, people: Sequence[str]) -> dict[str, Any]:
        last = self.transcript.last_at
        assert last is not None
        return {"org": org, "session": self.name, "agent": AGENT, "participants": list(people),
                "ended_at": last.isoformat(), "transcript": self.transcript.model_dump(mode="json")}  # fmt: skip

    def envelope(self) -> str:
        """The observations as a model would have sent them."""
        return json.dumps({"candidates": [
            {"content": one.text, "kind": "fact", "subject_hint": one.about,
             "rationale": "Only the people who talked know it.",
             "evidence": [{"turn": n, "quote": self.transcript.turns[n].text.strip()[:QUOTE_CHARACTERS]}
                          for n in one.turns]}
            for one in self.observations
        ]})  # fmt: skip


@dataclass(frozen=True)
class Conversation:
    """`questions`: those that are scored, by their index in the file."""

    people: tuple[str, str]
    talks: tuple[Talk, ...]
    questions: Mapping[int, str]


def conversations(path: Path) -> Iterator[Conversation]:
    for sample in json.loads(path.read_text(encoding="utf-8")):
        said = sample["conversation"]
        names = sorted((key for key in said if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        talks = tuple(_talk(key, said, sample["observation"]) for key in names if said[key])
        known = {f"{talk.name}:{n + 1}" for talk in talks for n in range(len(talk.transcript.turns))}
        asked = {
            number: qa["question"] for number, qa in enumerate(sample["qa"])
            if qa["category"] != 5 and known & set(qa.get("evidence", ()))
        }  # fmt: skip
        yield Conversation((said["speaker_a"], said["speaker_b"]), talks, asked)


def _talk(key: str, said: Mapping[str, Any], observed: Mapping[str, Any]) -> Talk:
    name = f"D{key[8:]}"
    began = datetime.strptime(said[f"{key}_date_time"], _WHEN).replace(tzinfo=UTC)
    turns = tuple(
        Turn(role=Role.USER, text=turn["text"], name=turn["speaker"], at=began + timedelta(minutes=n), trust=Trust.USER)
        for n, turn in enumerate(said[key])
    )
    facts = (
        Observed(about, text, tuple(_numbers(name, ids, len(turns))))
        for about, items in observed.get(f"{key}_observation", {}).items() for text, ids in items
    )  # fmt: skip
    return Talk(name, Transcript(turns=turns), tuple(facts))


def _numbers(name: str, ids: str | list[str], turns: int) -> Iterator[int]:
    """The turns of this session among the cited ones."""
    for one in re.findall(r"D\d+:\d+", ids if isinstance(ids, str) else " ".join(ids)):
        talk, _, number = one.partition(":")
        if talk == name and 0 < int(number) <= turns:
            yield int(number) - 1
