"""A value under a name that says what it is: `DB_PASSWORD=...`, `"apiKey": "..."`, `<token>...</token>`, `secret: ...`.

    name, a closed list of endings --> a form of writing it --> the value --> does it fit the name and the form?

A password may be nearly anything that is no word about passwords; a key, token or secret must have been generated.
Hashes, ids, counts and paths bear other names: the keyword ends the name, but for a few endings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import re2

from pipeline.redaction.classes import SECRET
from pipeline.redaction.detectors.assignment_value import Written, fits
from pipeline.redaction.folding import Folded, fold
from pipeline.redaction.span import Interval, Span


class Form(StrEnum):
    """How a value is tied to its name."""

    STRING = "string"
    BARE = "bare"
    ARGUMENT = "argument"
    CALL = "call"
    WORD = "word"
    ELEMENT = "element"
    PAIR = "pair"
    PROSE = "prose"
    BESIDE = "beside"
    OBJECT = "object"


_KEY = r"(?:api|access|secret|private|auth|account|encryption|signing|master)[ _-]?key|key"
_KEYWORD = (
    r"(?i:pass(?:wor[dt]|wd|phrase|code)?|pwd|psk|kennwort|senha|contrase(?:n|\?)a|secret|token|verifier|credentials?|creds|auth|jwt"
    rf"|{_KEY})"
)
_ENDING = (
    r"(?i:[_-]?(?:value|string|str|text|base|default|prod|production|dev|development|staging|live|test|old|new|backup"
    r"|primary|secondary|confirm|confirmation|again|raw|plain|hex|b(?:ase)?64|v?\d{1,4}))?_?"
)
_QUOTE = r"(?:\\{0,3}[\"'`]|&quot;|&#3[49];)"
_CLOSER = rf"(?:{_QUOTE}|[\])}}]){{0,3}}"
_TYPE = r"(?:\s?:\s?&?[A-Za-z][\w.<>\[\]|]{0,24}|\s[A-Za-z][\w.]{1,15})"
_SIGN = r"(?::{0,3}={1,3}>?|[?.+|!]{1,2}=|:|=>|->)"
_OPENER = rf"(?:(?:new )?[A-Za-z_][\w.:]{{0,30}}\()?(?:[bBrRuUfFL]{{1,2}}|@|\$)?{_QUOTE}"
_INNER = r"[^\s\"'`]{4}"

_FORMS = {
    Form.STRING: rf"(?:{_CLOSER}|{_TYPE})\s{{0,8}}{_SIGN}\s{{0,8}}{_OPENER}({_INNER})",
    Form.BARE: rf"{_CLOSER}[ \t]{{0,8}}{_SIGN}[ \t]{{0,4}}([^\s\"'`,;:=?(){{}}<>\\&|\[\]][^\s\"'`,;(){{}}<>\\&|]{{3}})",
    Form.PAIR: rf"{_QUOTE}?[\s,]{{1,20}}{_QUOTE}?value{_QUOTE}?\s?[:=]\s?{_QUOTE}?({_INNER})",
    Form.ARGUMENT: rf"{_QUOTE}\s?,\s{{0,4}}{_OPENER}({_INNER})",
    Form.CALL: rf"\({_OPENER}({_INNER})",
    Form.WORD: rf"\s{_OPENER}({_INNER})",
    Form.ELEMENT: r">\s{0,40}([^\s\"'`<>]{4})",
    Form.PROSE: rf"\s(?:is|was|to)(?:\snow)?:?\s{_QUOTE}?({_INNER})",
    Form.BESIDE: r"\s([A-Za-z0-9+/_-]{24})",
    Form.OBJECT: rf"{_CLOSER}\s?{_SIGN}\s?{_QUOTE}?(\{{\s{{0,8}}\\{{0,3}}[\"'])",
}
_ORDER = tuple(_FORMS)
_ASSIGNED = re2.compile(rf"({_KEYWORD}{_ENDING})(?:{'|'.join(_FORMS.values())})".encode())

_QUOTE_BEFORE = re2.compile(rf".*?({_QUOTE})".encode())
_BARE_VALUE = re2.compile(rb"[^\s\"'`<>,;)\]}&|\\(]*")
_STRONG_INSIDE = re2.compile(rb":\s?\\{0,3}\"([A-Za-z0-9_+/=-]{20,})\\{0,3}\"")
_LOOKED_UP = re2.compile(
    rb"(?i)[^\w](?:get\w*|env\w*|encode|decode|find\w*|fetch\w*|read\w*|load\w*|lookup|pop|headers?|params?|config|query"
    rb"|option|flag|field|column|label|input|prompt|t|tr|i18n|gettext|translate|require|include)\($"
)
_NAME_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-$")
_NAME_LENGTH_MAX = 64
_VALUE_LENGTH_MAX = 512
_STRING_LENGTH_MAX = 4096
_GAP_LENGTH_MAX = 40
_INSIDE_LENGTH_MAX = 300


@dataclass(frozen=True)
class Assignment:
    name: str = "assignment"
    classes: frozenset[str] = frozenset({SECRET})

    @property
    def trigger(self) -> bytes:
        return bytes(_ASSIGNED.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), SECRET, 0.8, self.name) for hit in _hits(folded)]


def _hits(folded: Folded) -> Iterator[Interval]:
    data, covered = folded.data, 0
    for found in _ASSIGNED.finditer(data):
        number = found.lastindex
        form, start, name_start = _ORDER[number - 2], found.start(number), _name_start(data, found.start())
        if _is_elsewhere(data, form, name_start, found.end(1), start):
            continue
        hit = _value(folded, data[name_start : found.end(1)], form, start)
        if hit and hit[0] >= covered:
            covered = hit[1]
            yield hit


def _name_start(data: bytes, position: int) -> int:
    floor = max(0, position - _NAME_LENGTH_MAX)
    while position > floor and data[position - 1] in _NAME_BYTES:
        position -= 1
    return position + data[position - 1 : position].endswith(b"\\")


def _is_elsewhere(data: bytes, form: Form, name_start: int, name_end: int, start: int) -> bool:
    """The value is what something is looked up by, or the next of a list of strings."""
    if form is Form.ARGUMENT:
        before = data[max(0, name_start - _GAP_LENGTH_MAX) : name_start]
        return not before.rstrip(b"\"'`\\ \n\t").endswith(b"(")
    return _LOOKED_UP.search(data[name_end:start].rstrip(b"\"'`\\bru")) is not None


def _value(folded: Folded, name: bytes, form: Form, start: int) -> Interval | None:
    data = folded.data
    if form is Form.OBJECT:
        return _inside(data, start)
    quote = _quote_before(data, start)
    end = _end(data, start, quote)
    if end is None:
        return None
    written = Written(
        quoted=bool(quote),
        loose=form in (Form.PROSE, Form.WORD),
        strong=form is Form.BESIDE,
        followed=data[end : end + 1],
        foreign=not folded.text[start:end].isascii(),
    )
    if not fits(name, data[start:end], written):
        return None
    # What is longer than was looked at is taken whole.
    return start, end if quote else max(end, int(_BARE_VALUE.match(data, start).end()) - 1)


def _quote_before(data: bytes, start: int) -> bytes:
    found = _QUOTE_BEFORE.fullmatch(data, max(0, start - 9), start)
    return bytes(found.group(1)) if found else b""


def _end(data: bytes, start: int, quote: bytes) -> int | None:
    """Where the value ends, within reach; None where a string is not closed on its line."""
    if not quote:
        end = int(_BARE_VALUE.match(data, start, min(len(data), start + _VALUE_LENGTH_MAX)).end())
        if end == start or data[end - 2 : end] == b"..":
            return None
        return end - (data[end - 1] in b".:?!")
    end = data.find(quote, start, start + _STRING_LENGTH_MAX)
    return end if end > start and b"\n" not in data[start:end] else None


def _inside(data: bytes, start: int) -> Interval | None:
    """A token in the JSON object that the name stands for."""
    found = _STRONG_INSIDE.search(data, start, min(len(data), start + _INSIDE_LENGTH_MAX))
    if not found or not fits(b"token", data[found.start(1) : found.end(1)], Written(quoted=True)):
        return None
    return found.start(1), found.end(1)
