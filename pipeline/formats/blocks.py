"""Message content as model APIs write it: a string, or a list of typed blocks.

A tool call is skipped by name and kept only as the name of the tool whose answer follows: a call is an act, not a
statement, and its arguments copy file and web content that must not pass for the agent's words. Thinking is skipped:
what an agent considered is not what it said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.formats.reading import TOOL, Part, Said, Skipped, Voice
from pipeline.formats.shape import label, mapping, output_text, sequence, string

TEXT = frozenset({"text", "input_text", "output_text", "inputText", "refusal"})
THINKING = frozenset({"thinking", "redacted_thinking", "reasoning"})
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "toolCall", "function_call"})

ToolNames = dict[str, str]
"""Call id to name of the tool called, filled while a log is read."""


def remember_call(names: ToolNames, call: Any, tool: Any) -> None:
    """Which tool was called; a call without an id names no later answer."""
    if string(call):
        names[string(call)] = string(tool)


def parts_of(content: Any, voice: Voice, names: ToolNames) -> Iterator[Part]:
    """The parts of a message's content; text speaks in `voice`, tool results in the tool's."""
    if isinstance(content, str):
        yield Said(voice, content)
        return
    for block in sequence(content):
        if isinstance(block, str):
            yield Said(voice, block)
        else:
            yield from _block(mapping(block), voice, names)
    if content in (None, []):
        yield Skipped("empty")


def _block(block: dict[str, Any], voice: Voice, names: ToolNames) -> Iterator[Part]:
    kind = string(block.get("type"))
    if kind in TEXT or (not kind and "text" in block):
        yield Said(voice, string(block.get("text")) or string(block.get("refusal")))
    elif kind in THINKING:
        yield Skipped("thinking")
    elif kind in CALLS:
        remember_call(names, block.get("id"), block.get("name"))
        yield Skipped("tool_call")
    elif kind.endswith("tool_result"):
        yield from tool_answer(block.get("content"), names.get(string(block.get("tool_use_id"))))
    else:
        yield Skipped(label(kind))  # image, document, audio: no words to read


def tool_answer(content: Any, tool: str | None) -> Iterator[Part]:
    """A tool's answer: its text, and what it held besides."""
    yield Said(TOOL, output_text(content), tool or None)
    for block in sequence(content):
        if isinstance(block, dict) and string(block.get("type")) not in TEXT:
            yield Skipped(label(block.get("type")))
