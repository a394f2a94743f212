"""Real session logs in, transcripts out: one reader a format.

    text --detect--> Reader --read--> ReadResult

    reader.py     what a reader is and answers          jsonl.py, document.py   the two shapes of file
    reading.py    the accounting they share             blocks.py, messages.py  the shapes of message in them
    injected.py   cuts out memory blocks, boilerplate   shape.py                foreign fields, taken without trust

Failure handling: a text no reader knows raises FormatError with the known names; apart from that nothing raises, and
what could not be read is counted in the result. To add a format: one file with a class of `name`, `sniff`, `read`,
and its place in READERS, before every reader whose `sniff` is less strict.
"""

from __future__ import annotations

from typing import Final

from pipeline.errors import FormatError
from pipeline.formats.afterword import Afterword
from pipeline.formats.claude_code import ClaudeCode
from pipeline.formats.codex import Codex
from pipeline.formats.copilot import Copilot
from pipeline.formats.gemini import Gemini
from pipeline.formats.hermes import Hermes
from pipeline.formats.injected import cut, cut_transcript
from pipeline.formats.openai_chat import OpenAIChat
from pipeline.formats.pi import Pi
from pipeline.formats.reader import Reader, ReadResult, Unread
from pipeline.formats.swe_agent import SweAgent

__all__ = ["READERS", "ReadResult", "Reader", "Unread", "cut", "cut_transcript", "detect", "read"]

READERS: Final[tuple[Reader, ...]] = (
    Afterword(),
    ClaudeCode(),
    Codex(),
    Copilot(),
    Pi(),
    Gemini(),
    Hermes(),
    SweAgent(),
    OpenAIChat(),
)
"""In the order they are asked: the strictest first, bare chat messages last."""

HEAD_CHARS = 65_536
"""Enough for the first records of every log seen; a log that opens with a longer record is looked at whole."""


def detect(text: str) -> Reader:
    """The reader that knows this log; FormatError when none does."""
    for head in (text[:HEAD_CHARS], text):
        for reader in READERS:
            if reader.sniff(head):
                return reader
    what = "The session log is empty" if not text.strip() else "No reader knows this session log"
    raise FormatError(f"{what}. Known formats: {_known()}. Name one with --format.")


def read(text: str, format: str = "auto") -> ReadResult:
    """Read a log in the named format, or in the one it is found to be. FormatError for an unknown name or log."""
    if format == "auto":
        return detect(text).read(text)
    for reader in READERS:
        if reader.name == format:
            return reader.read(text)
    raise FormatError(f"No format is called {format!r}. Known formats: {_known()}. Name one with --format.")


def _known() -> str:
    return ", ".join(sorted(reader.name for reader in READERS))
