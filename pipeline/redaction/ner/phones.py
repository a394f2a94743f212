"""Which scored digits are a phone number or a date of birth: the model's word, for what has the form.

A phone has seven to fifteen digits in groups (ITU-T E.164); a date, a time, a version and what is glued to letters is
none. This finds beside the pattern detector what no region's plan knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from pipeline.redaction.ner.port import Tagged
from pipeline.redaction.ner.roles import Role
from pipeline.redaction.ner.words import Interval, Reading

PHONE, BIRTH = 0.5, 0.5
"""The least mean score over the characters."""
_PHONE = re.compile(
    r"(?<!\d[,.:])(?<![\w./:#$€£=-])(?:\+ ?|\(\+?)?\d(?:[ \u00a0()./-]{0,3}\d){6,14}(?: ?(?:x|ext\.?) ?\d{1,6})?"
    r"(?!\w|[.,/:]\d|-\d|%)"
)
_NO_PHONE = re.compile(
    r"(?:19|20)\d\d[-./ ]?(?:0?[1-9]|1[0-2])[-./ ]?(?:0?[1-9]|[12]\d|3[01]).*"
    r"|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d.*"
    r"|\d+\.\d+|\d{1,3}(?:\.\d{1,3}){3}|\d{8,}"
)
_BIRTH = re.compile(r"\d{1,4}[-./ ]{1,2}(?:\d{1,2}|[^\W\d_]{3,9})[-./, ]{1,2}\d{2,4}")


def phones(reading: Reading, tagged: Tagged) -> list[Interval]:
    return [
        hit
        for hit in _scored(_PHONE, Role.PHONE, PHONE, reading, tagged)
        if not _NO_PHONE.fullmatch(reading.text, *hit[:2]) and not reading.code.holds(*hit[:2])
    ]


def births(reading: Reading, tagged: Tagged) -> list[Interval]:
    return list(_scored(_BIRTH, Role.BIRTH, BIRTH, reading, tagged))


def _scored(form: re.Pattern[str], role: Role, least: float, reading: Reading, tagged: Tagged) -> Iterator[Interval]:
    """Matches of `form` whose tokens score `least` on average over their characters."""
    if not len(tagged.scores) or tagged.scores[:, role].max() < least:
        return
    for match in form.finditer(reading.text):
        score = _mean(tagged, role, *match.span())
        if score >= least:
            yield *match.span(), score


def _mean(tagged: Tagged, role: Role, start: int, end: int) -> float:
    inside = [
        (min(end, token_end) - max(start, token_start), tagged.scores[at, role])
        for at, (token_start, token_end) in enumerate(tagged.offsets)
        if token_start < end and start < token_end
    ]
    return float(np.average([score for _, score in inside], weights=[chars for chars, _ in inside])) if inside else 0.0
