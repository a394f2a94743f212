"""Rules and preferences: what changes how later sessions behave."""

from __future__ import annotations

from pipeline.extraction.wording.shown import shown
from pipeline.extraction.wording.table import Table

_RULES = Table(
    (
        r"^(?:please )?(?:always|never|do not|don't|avoid|make sure|be sure to|ensure|remember to) \w",
        r"^(?:please )?(?:use|prefer) [\w'\"./-]+",
        r"\b(?:from now on|in (?:all )?(?:the )?future(?: sessions?| conversations?| runs?)?,|going forward"
        r"|henceforth)\b",
        r"\b(?:every time|whenever|each time|before) you \w+",
        r"\b(?:you|agents?|assistants?|models?|bots?) (?:must|shall|should|may) (?:always|never|not)\b",
        r"\b(?:agents|assistants|future sessions) (?:must|shall|should|have to)\b",
    ),
    harmless=(r"^(?:please )?(?:use|prefer) (?:of|cases?|for)\b",),
)
_OWN = Table(
    (
        r"\bi(?:'d| would)? (?:really |much |generally |usually |always |strongly )?(?:prefer|rather)\b",
        r"\bi (?:really )?(?:don't|do not) (?:like|want to (?:see|use|have))\b",
        r"\bi (?:really )?(?:like|love|hate|dislike)\b",
        r"\bmy (?:preference|favou?rite|preferred)\b",
    ),
    harmless=(r"\bi (?:really )?(?:like|love|hate|dislike) to (?:know|ask|see if)\b",),
)
_TOLD = Table((r"\b(?:user|customer|client|he|she) (?:strongly |generally |usually )?prefers\b",))


def is_rule(text: str) -> bool:
    """Is it an imperative addressed to future sessions?"""
    return _RULES.search(shown(text))


def is_preference(text: str, own_words: bool) -> bool:
    """Does the user say what they prefer (`own_words`), or is somebody said to prefer something?"""
    visible = shown(text)
    return _TOLD.search(visible) or (own_words and _OWN.search(visible))
