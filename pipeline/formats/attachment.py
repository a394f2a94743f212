"""Claude Code's `attachment` records: what the program put beside a prompt.

Only a queued prompt can be the user's words. Files, diffs and hook output are untrusted; reminders and listings that
the program writes for its model are skipped under their name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipeline.formats.blocks import parts_of
from pipeline.formats.reading import SYSTEM, TOOL, USER, Part, Said, Skipped
from pipeline.formats.shape import label, mapping, output_text, string

HUMAN = frozenset({"human"})
"""The `origin.kind` of a person's prompt; task notifications and channels have others."""

FOR_THE_MODEL = re.compile(
    r".*_(delta|reminder|notice|sent|listing|mode|exit|enter|permissions|change|skill|skills|status|reference|usd)"
)
"""Kinds the program writes to steer its model, by the ending of their name."""

_TEXT_KEYS = ("content", "snippet", "stdout", "stderr", "blockingError", "text")


def is_the_users(record: dict[str, Any]) -> bool:
    """Was this prompt typed by a person? Older releases name no origin; an unknown one does not count."""
    origin = record.get("origin")
    return record.get("promptSource") != "system" and (not origin or string(mapping(origin).get("kind")) in HUMAN)


def attachment_parts(attachment: dict[str, Any]) -> Iterator[Part]:
    kind = label(attachment.get("type"))
    if kind == "queued_command":
        typed = is_the_users(attachment) and attachment.get("commandMode", "prompt") == "prompt"
        yield from parts_of(attachment.get("prompt"), USER if typed else SYSTEM, {})
        return
    text = "" if FOR_THE_MODEL.fullmatch(kind) else _text(attachment)
    if text.strip():
        yield Said(TOOL, text, tool=f"attachment:{kind}")
    else:
        yield Skipped(f"attachment:{kind}")


def _text(attachment: dict[str, Any]) -> str:
    """The first text it holds; a file's stands one or two records deeper."""
    for key in _TEXT_KEYS:
        value = attachment.get(key)
        for inner in ("file", "content", "blockingError"):
            value = mapping(value).get(inner, value)
        text = output_text(value)
        if text.strip():
            return text
    return ""
