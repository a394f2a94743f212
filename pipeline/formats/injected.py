"""Cuts out of a text what no one in the session said: memory that Afterword injected, and clients' boilerplate.

    fence     <afterword-memory …> … </afterword-memory>    never left in, whatever its state
    wrapper   <system-reminder> … </system-reminder> and its like

Fences go first, so that a wrapper's tag inside recalled text cannot end a cut early. A fence without its end is cut
to the end of the text, since all after it may be recalled; a wrapper without its end only where it opens a line, since
people mention tags in mid-sentence. One pass each over the tags: linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.recall.fence import FENCE_OPEN_PREFIX
from pipeline.session import Transcript

WRAPPERS = (
    # Claude Code: reminders, slash and shell commands with their output, editor context, hooks
    "system-reminder",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "task-notification",
    # Codex: state of the environment and instruction files in user messages
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "apps_instructions",
    "skills_instructions",
    "plugins_instructions",
    "collaboration_mode",
    "personality_spec",
    "model_switch",
    "turn_aborted",
    "subagent_notification",
    "user_shell_command",
    # Gemini, Copilot
    "session_context",
    "current_datetime",
)

_LESS = r"(?:<|&lt;|\\u003c)"  # a fence may come back escaped, inside a tool's JSON or HTML
_LESS_SIGNS = ("<", "&", "\\u003", "\\U003")  # one stands in whatever `_LESS` matches, in any case
_MORE = r"(?:>|&gt;|\\u003e)"


def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(name) for name in names)
    close = rf"{_LESS}\\?/(?P<close>{alternatives})\s*{_MORE}"
    return re.compile(rf"{close}|{_LESS}(?P<open>{alternatives})(?=\s|/|{_MORE}|\Z)", re.IGNORECASE)


_FENCE_TAGS = _tags((FENCE_OPEN_PREFIX.removeprefix("<"),))
_WRAPPER_TAGS = _tags(WRAPPERS)

INDENT_CHARS_MAX = 80
"""How far a tag may be indented and still open its line; a bound, so that one long line stays linear."""

Span = tuple[int, int]


def cut(text: str) -> tuple[str, int]:
    """`text` without injected blocks, and how many were cut. A text with none comes back unchanged."""
    if not any(sign in text for sign in _LESS_SIGNS):
        return text, 0
    text, fences = _without(text, list(_fences(text)))
    text, wrappers = _without(text, list(_wrappers(text)))
    return text, fences + wrappers


def cut_transcript(transcript: Transcript) -> tuple[Transcript, int]:
    """Every turn cut, and how many blocks went. Turn numbers stay: a turn of which nothing is left stays, empty."""
    total = 0
    turns = []
    for turn in transcript.turns:
        text, blocks = cut(turn.text)
        total += blocks
        turns.append(turn.model_copy(update={"text": text}) if blocks else turn)
    return Transcript(turns=tuple(turns)), total


def _without(text: str, spans: list[Span]) -> tuple[str, int]:
    if not spans:
        return text, 0
    pieces, last = [], 0
    for start, end in spans:
        pieces.append(text[last:start])
        last = end
    return ("".join(pieces) + text[last:]).strip(), len(spans)


def _fences(text: str) -> Iterator[Span]:
    depth, start = 0, 0
    for tag in _FENCE_TAGS.finditer(text):
        if tag["open"]:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth <= 1:
            yield (start if depth else tag.start(), tag.end())  # a stray end goes alone
            depth = 0
        else:
            depth -= 1
    if depth:
        yield start, len(text)


def _wrappers(text: str) -> Iterator[Span]:
    tags = list(_WRAPPER_TAGS.finditer(text))
    last_close = {tag["close"].lower(): tag for tag in tags if tag["close"]}
    name, depth, start = "", 0, 0
    for tag in tags:
        opened = (tag["open"] or "").lower()
        if not depth:
            if not opened:
                continue
            end = last_close.get(opened)
            if end and end.start() > tag.start():
                name, depth, start = opened, 1, tag.start()
            elif _opens_a_line(text, tag.start()):
                yield tag.start(), len(text)
                return
        elif opened == name:
            depth += 1
        elif (tag["close"] or "").lower() == name:
            depth = 0 if tag is last_close[name] else depth - 1
            if not depth:
                yield start, tag.end()


def _opens_a_line(text: str, position: int) -> bool:
    before = text[max(0, position - INDENT_CHARS_MAX) : position]
    return not before[before.rfind("\n") + 1 :].strip()
