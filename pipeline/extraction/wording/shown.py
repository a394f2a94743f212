"""A text as tables of wording read it: what a reader would see, in one case, without accents.

Entities are read as what they stand for. Characters that show nothing are left out, since hidden ones would split a
trigger word, and what is written in tag characters, which a model reads and a person does not, stands at the end.
Letters of another script within a Latin word become the letters they look like; Latin letters lose their accents, so
that their edges are edges to RE2; the underscores of emphasis go. A line break before a capital, and an empty line,
stand as `¦`: something new begins there.
"""

from __future__ import annotations

import html
import re
import unicodedata

from pipeline.recall.visible import EMOJI_STYLES, HIDDEN, VARIATIONS
from pipeline.session import normalised

_BREAK = re.compile(r"\n\s*")
_WORD = re.compile(r"\w+")
_EMPHASIS = re.compile(r"\b_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}\b")
_TAGS = {chr(0xE0000 + point): chr(point) for point in range(0x20, 0x7F)}
_UNSEEN = HIDDEN | VARIATIONS | EMOJI_STYLES
_APART = str.maketrans({"’": "'", "‘": "'", "`": "'", "ı": "i", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ø": "o",
                        "Ø": "o", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe"})  # fmt: skip
_LOOKS_LIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u04bb"
    "\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9",
    "abekmhopctyxijsdhabeikvoptuxw",
)
"""Cyrillic, then Greek letters, as escapes since an editor shows no difference, and their Latin doubles."""
_ACCENTS = re.compile("[\u0300-\u036f]")


def shown(text: str) -> str:
    """Normalised, case folded, visible; see above."""
    text = _BREAK.sub(_line_break, html.unescape(text) if "&" in text else text)
    if not text.isascii():
        text = _WORD.sub(_one_script, unaccented(_seen(text)))
    return normalised(_EMPHASIS.sub("", text)).replace("`", "'")


def unaccented(text: str) -> str:
    """Latin letters without marks; marks of other scripts stand, since there they are letters."""
    marked = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", marked)).translate(_APART)


def _seen(text: str) -> str:
    tags = "".join(_TAGS[sign] for sign in text if sign in _TAGS)
    seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf" and sign not in _UNSEEN)
    return f"{seen} ¦ {tags}" if tags else seen


def _line_break(gap: re.Match[str]) -> str:
    follows = gap.string[gap.end() : gap.end() + 1]
    return " ¦ " if gap.group().count("\n") > 1 or follows.isupper() else " "


def _one_script(word: re.Match[str]) -> str:
    letters = word.group().lower()
    if letters.isascii() or not any("a" <= letter <= "z" for letter in letters):
        return word.group()
    return letters.translate(_LOOKS_LIKE)
