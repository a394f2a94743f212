"""A tagger that says what a test marks: `[Anna Berg|person .9]`; each word of a mark is a token of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.redaction.ner.port import Tagged
from pipeline.redaction.ner.roles import Role

_MARK = re.compile(r"\[([^\]|]*)\|(\w+)(?: ([\d.]+))?\]")


def marked(text: str) -> tuple[str, Tagged]:
    """The text without its marks, and what the tagger says of it; a mark without a score has 0.99."""
    plain, offsets, rows, position = "", [], [], 0
    for match in _MARK.finditer(text):
        for word, role, score in (
            *((word, None, 0.0) for word in re.finditer(r"\w+", text[position : match.start()])),
            *((word, Role[match[2].upper()], float(match[3] or 0.99)) for word in re.finditer(r"\w+", match[1])),
        ):
            base = len(plain) if role is None else len(plain) + match.start() - position
            offsets.append((base + word.start(), base + word.end()))
            row = np.zeros(len(Role), np.float32)
            if role is not None:
                row[role] = score
            rows.append(row)
        plain += text[position : match.start()] + match[1]
        position = match.end()
    for word in re.finditer(r"\w+", text[position:]):
        offsets.append((len(plain) + word.start(), len(plain) + word.end()))
        rows.append(np.zeros(len(Role), np.float32))
    return plain + text[position:], Tagged(offsets, np.array(rows, np.float32).reshape(-1, len(Role)))


@dataclass
class Scripted:
    """Knows the texts it was given marked; of others it says nothing."""

    texts: dict[str, Tagged] = field(default_factory=dict)
    roles: frozenset[Role] = frozenset(Role)

    def verify(self) -> None:
        """There is nothing to verify."""

    def tag(self, texts: Sequence[str]) -> list[Tagged]:
        return [self.texts.get(text) or Tagged((), np.empty((0, len(Role)), np.float32)) for text in texts]
