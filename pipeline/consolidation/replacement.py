"""Whether a newer fact takes the place of an older one, by its wording alone. English; every doubt is a no.

ended      "Ana no longer works at Initech"                 ends  "Ana works at Initech"
named      "Billing uses MySQL instead of Postgres"         names the old value of "Billing uses Postgres"
moved      "Staging moved to region B"                      moves the one thing "Staging runs in region A" places
revalued   "The request timeout is 60 s"                    gives another value than "The request timeout is 30 s"
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pipeline.consolidation.wording import claims, is_marked, is_negated

PLACE: Final = (
    r"(?:lives?|runs?|resides?|sits?|works?) in|(?:is|are) deployed to"
    r"|(?:is|are) (?:based |located |hosted |deployed |stored |kept )?(?:in|on|at)"
)
USE: Final = r"uses?|runs? on|rel(?:ies|y) on|(?:is|are) (?:built|based) on|(?:is|are) written in"
VALUE: Final = r"is now|are now|is|are|defaults? to|is set to|was changed to|changed to|is called|is named"
SAYS: Final = re.compile(rf"(?P<head>.+?) (?:(?P<place>{PLACE})|(?P<use>{USE})|(?P<value>{VALUE})) (?P<core>.+)")

AUXILIARY: Final = r"(?:(?:has|have|was|were|been|now|already|recently|just|finally|since) )*"
MOVED: Final = re.compile(
    rf"(?P<head>.+?) {AUXILIARY}(?P<verb>moved|migrated|relocated|switched) (?:over )?to (?P<core>.+)"
    r"|(?:[Ww]e|[Tt]hey|I|[Tt]he team) (?:have |has )?(?P<verb2>moved|migrated|switched) (?P<head2>.+?)"
    r" (?:over )?to (?P<core2>.+)"
)
STOP: Final = r"(?= (?:to|for|in|on|at|with|by|since|because|after|when|last|this|as)\b|[,;]|$)"
NAMED: Final = re.compile(
    rf"(?:instead of|rather than|in place of) (?P<a>.+?){STOP}"
    rf"|(?:moved|migrated|switched|changed|renamed|upgraded) (?:\w+ ){{0,3}}?from (?P<b>.+?){STOP}"
    rf"|replaced (?P<c>.+?) (?:with|by) .+|(?P<d>.+) {AUXILIARY}replaced (?:with|by) .+"
)
ENDED: Final = re.compile(r"(?P<before>.+?) (?:no longer|stopped|quit|ceased) (?P<after>.+?)(?:,| but | and |;|$)")

HEDGED: Final = re.compile(
    r"\b(?:[Ii]f|will|would|should|could|might|may|plan\w*|propos\w*|consider\w*|wants?|wanted|hop(?:es?|ing)|wish\w*"
    r"|think\w*|discuss\w*|suggest\w*|tr(?:y|ies|ied|ying)|asks?|asked|going to|about to|maybe|perhaps|almost|nearly"
    r"|interested|encourage\w*|once|before|until|dreams?)\b|\?"
)
PARTIAL: Final = re.compile(
    r"\b(?:also|too|as well|both|another|additionally|some|most|half|partly|partially|and|or)\b|,"
)
PEOPLE: Final = frozenset({"team", "company", "office", "family", "we", "they", "i", "he", "she", "everyone"})
VERBS: Final = frozenset({
    "use", "using", "used", "run", "running", "live", "work", "in", "on", "at", "to", "from", "was", "been", "has",
    "have", "doe", "did", "do", "now", "written", "built", "hosted", "stored",
})  # fmt: skip
"""Claims that join a thing to its value; both tenses and the folded form of `does`."""

SINGLE_VALUED: Final = frozenset({
    "address", "bandwidth", "birthday", "branch", "bucket", "budget", "cap", "currency", "database", "deadline",
    "default", "endpoint", "extension", "headquarter", "host", "hostname", "hometown", "interval", "lead", "limit",
    "maintainer", "manager", "owner", "plan", "price", "provider", "quota", "rate", "region", "registry", "schedule",
    "threshold", "tier", "timeout", "timezone", "url", "version", "window", "zone",
})  # fmt: skip
"""What a thing has one of at a time. Not among them: port, user, tool, which a thing may have several of."""

TIME: Final = re.compile(
    r"\b(?:last|this|since|yesterday|today|now|recently|week|month|year|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|\d{4})\b",
    re.IGNORECASE,
)
TAIL: Final = re.compile(
    r" (?:for|when|while|during|with|as|because|after|since|last|this|in|on|at|yesterday|today)\b.*"
)

VALUE_WORDS_MAX: Final = 4
LEFT_OVER_MAX: Final = 2


class Statement(NamedTuple):
    """`head` says or has `core`, under the condition `tail`."""

    head: frozenset[str]
    verb: str  # place, use or value; for a move the verb itself
    core: str
    tail: frozenset[str]


def replacement(new: str, old: str) -> str | None:
    """The rule by which `new` takes the place of `old`, else None."""
    new, old = (text.strip().rstrip(".!") for text in (new, old))
    if _is_doubtful(new) or _is_doubtful(old) or is_negated(old):
        return None
    rules = {"ended": _ended, "named": _named, "moved": _moved, "revalued": _revalued}
    return next((name for name, applies in rules.items() if applies(new, old)), None)


def subjects(text: str) -> tuple[str, ...]:
    """The things a text says something about, as it words them: those under which what it replaces can be found."""
    text = text.strip().rstrip(".!")
    said, moved, ended, named = SAYS.fullmatch(text), MOVED.fullmatch(text), ENDED.match(text), NAMED.search(text)
    found = [said["head"] if said else None, (moved["head"] or moved["head2"]) if moved else None]
    found += [_without_verbs(f"{ended['before']} {ended['after']}")] if ended else []
    found += [group for group in named.groups() if group] if named else []
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _without_verbs(text: str) -> str:
    return " ".join(word for word in text.split() if not set(claims(word)) & VERBS)


def _is_doubtful(text: str) -> bool:
    """A plan, a question or more than one sentence replaces nothing, and is not replaced."""
    return bool(HEDGED.search(text) or re.search(r"[.!;]\s", text))


def _ended(new: str, old: str) -> bool:
    match = ENDED.match(new)
    if not match:
        return False
    head, end, known = claims(match["before"]), set(claims(match["after"])) - VERBS, set(claims(old)) - VERBS
    needed = set(head) - VERBS | end
    starts_alike = bool(head) and claims(old)[: len(head)] == head
    return starts_alike and bool(end) and needed <= known and len(known - needed) <= LEFT_OVER_MAX


def _named(new: str, old: str) -> bool:
    match = NAMED.search(new)
    if not match or PARTIAL.search(new):
        return False
    value = set(claims(next(group for group in match.groups() if group))) - VERBS
    known, said = set(claims(old)) - VERBS, set(claims(new))
    rest = known - value
    return bool(value) and value <= known and rest <= said and len(known) > 1


def _moved(new: str, old: str) -> bool:
    move, before = _move(new), _statement(old)
    if not move or not before or PARTIAL.search(new) or PARTIAL.search(old):
        return False
    if before.verb not in _kinds(move):
        return False
    return _another_value(move, before)


def _kinds(move: Statement) -> set[str]:
    """Which statements this verb can undo: people and offices move house, and switch tools."""
    kinds = {"relocated": {"place"}, "switched": {"use"}}.get(move.verb, {"place", "use"})
    return kinds - {"use"} if move.verb != "switched" and move.head & PEOPLE else kinds


def _revalued(new: str, old: str) -> bool:
    after, before = _statement(new), _statement(old)
    if not after or not before or PARTIAL.search(new) or PARTIAL.search(old) or is_negated(new):
        return False
    shared = after.head | (frozenset(claims(after.core)) & frozenset(claims(before.core)))
    alike = after.verb == before.verb != "use" and bool(shared & SINGLE_VALUED)
    return alike and is_marked(after.core) and is_marked(before.core) and _another_value(after, before)


def _another_value(after: Statement, before: Statement) -> bool:
    values = set(claims(after.core)), set(claims(before.core))
    short = all(0 < len(value) <= VALUE_WORDS_MAX for value in values)
    differ = bool(values[0] - values[1]) and bool(values[1] - values[0])
    return bool(after.head) and after.head == before.head and after.tail == before.tail and short and differ


def _statement(text: str) -> Statement | None:
    match = SAYS.fullmatch(text)
    if not match:
        return None
    verb = next(kind for kind in ("place", "use", "value") if match[kind])
    return _stated(match["head"], verb, match["core"])


def _move(text: str) -> Statement | None:
    match = MOVED.fullmatch(text)
    if not match:
        return None
    return _stated(match["head"] or match["head2"], match["verb"] or match["verb2"], match["core"] or match["core2"])


def _stated(head: str, verb: str, core: str) -> Statement:
    tail = TAIL.search(core)
    condition = frozenset() if not tail or TIME.search(tail[0]) else frozenset(claims(tail[0]))
    return Statement(frozenset(claims(head)), verb, core[: tail.start()] if tail else core, condition)
