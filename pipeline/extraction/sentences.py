"""A turn's prose, sentence by sentence: code, quotations, tables, headings and injected blocks are left out.

Each sentence keeps the words as they stand in the turn (`quote`) beside a cleaned form (`text`): bullets, emphasis and
opening fillers removed, nothing else changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_TURN_CHARACTERS = 20_000
"""Nobody speaks longer; what is longer is a paste. It also bounds the time unclosed markup can cost."""

_BLOCKS = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|<(?P<tag>[a-z][\w-]{0,40})(?: [^<>\n]{0,200})?>.*?</(?P=tag)>",
    re.DOTALL,
)
_NO_PROSE = re.compile(
    r"^\s*(?:>|\||#|\+|@@|\$ |/\w+\s*$|➜|at \S+ \(|\S*(?:Error|Exception|Warning):|[^\w\s]{3,})|^(?: {4,}|\t+)\S"
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|\[[ x]\])\s+")
_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)[)\"'*”]*\s+(?=\S)"
)
_FILLER = re.compile(
    r"^(?:so|ok(?:ay)?|alright|all right|right|well|actually|also|and|but|yes|yeah|yep|no|nope|great|perfect"
    r"|done|sure"
    r"|exactly|understood|makes sense|hm+|ah|oh|oops|hi|hello|hey|thanks|thank you|excellent|good|cool|anyway"
    r"|basically"
    r"|note|btw|by the way|fyi|in general|for the record|just so you know|(?:one|another) (?:more "
    r"|last )?(?:thing|problem)"
    r"|lesson(?: for next time| learned)?)"
    r"(?:\s*[,!:;.–—-]+\s*| (?=(?:so|ok|also|we|i|let's|our|the|please|remember|always|never|keep|no|thank)\b))"
    r"|^(?:always )?please,? (?=(?:always|never|remember|keep|use|do not|don't|note|stop)\b)"
    r"|^(?:omfg|omg|wtf|my dude|dude|fucking hell)\b[\s,!.]*",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|^\W*[✅❌🔧🎯🚨📦🔑]\W*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`quote` stands verbatim in the turn; `text` is what a reader should see."""

    quote: str
    text: str


def sentences(turn_text: str) -> Iterator[Sentence]:
    """Sentences of prose in order; a line break ends one."""
    for line in _BLOCKS.sub("\n", turn_text[:MAX_TURN_CHARACTERS]).splitlines():
        if _NO_PROSE.match(line):
            continue
        for quote in _END.split(_BULLET.sub("", line)):
            text = _cleaned(quote)
            if text:
                yield Sentence(quote.strip(), text)


def _cleaned(quote: str) -> str:
    text = _EMPHASIS.sub("", quote).strip()
    shorter = _FILLER.sub("", text)
    while shorter != text:
        text, shorter = shorter, _FILLER.sub("", shorter)
    text = re.sub(r"\s*(?:\.{2,}|…)$", ".", text)
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+\b(?![./_(])", text) else text
