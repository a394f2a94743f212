"""SWE-agent: a `.traj` document. `history` holds the conversation, `trajectory` the same steps once more.

No user speaks in it. The task is a template around an issue's text: it stands in the user's role, but as evidence
for someone's wishes it is untrusted, as is every observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.formats.blocks import ToolNames, parts_of, tool_answer
from pipeline.formats.document import document, has_keys
from pipeline.formats.messages import TOOL_ROLES
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import AGENT, SYSTEM, TOOL, Part, Reading, Said, Skipped, Unknown, Voice
from pipeline.formats.shape import label, mapping, sequence, string
from pipeline.session import Role, Trust

TASK = Voice(Role.USER, Trust.UNTRUSTED)


class SweAgent:
    name = "swe_agent"

    def sniff(self, head: str) -> bool:
        steps = has_keys(head, "trajectory", "action", "observation")
        return steps or (has_keys(head, "history", "role") and has_keys(head, "agent"))

    def read(self, text: str) -> ReadResult:
        reading = Reading("swe-agent")
        found = document(text, ("history", "trajectory"))
        reading.names(session=found.fields.get("instance_id"))
        conversation = _Conversation()
        for number, item in enumerate(found.items, start=1):
            reading.record(number, conversation.parts(mapping(item)))
        steps = sequence(found.fields.get("trajectory"))
        if found.items is not steps:
            for number, _ in enumerate(steps, start=len(found.items) + 1):
                reading.record(number, [Skipped("trajectory step")])
        if found.broken:
            reading.fail(len(found.items) + 1, found.broken)
        return reading.result()


class _Conversation:
    """Knows whether the task was given, and which command an observation answers."""

    def __init__(self) -> None:
        self._acted = False
        self._command: str | None = None
        self._names: ToolNames = {}

    def parts(self, item: dict[str, Any]) -> Iterator[Part]:
        role = string(item.get("role"))
        if item.get("is_demo") or item.get("message_type") == "demonstration":
            yield Skipped("demonstration")
        elif role == "system":
            yield from parts_of(item.get("content"), SYSTEM, self._names)
        elif role == "assistant":
            self._note(item.get("action"))
            yield from parts_of(item.get("content"), AGENT, self._names)
        elif role in TOOL_ROLES or (role == "user" and self._acted):
            yield from tool_answer(item.get("content"), self._command)
        elif role == "user":
            yield from parts_of(item.get("content"), TASK, self._names)
        elif "observation" in item:
            yield from self._step(item)
        else:
            yield Unknown(f"unknown role {label(role)!r}")

    def _step(self, step: dict[str, Any]) -> Iterator[Part]:
        """A step of `trajectory`, read only where there is no history."""
        self._note(step.get("action"))
        yield Said(AGENT, string(step.get("response")) or string(step.get("thought")))
        yield Said(TOOL, string(step.get("observation")), self._command)

    def _note(self, action: Any) -> None:
        self._acted = True
        self._command = next(iter(string(action).split()), None)
