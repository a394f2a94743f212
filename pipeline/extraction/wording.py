"""Tables of wording: what makes a text a rule, a preference, high-stakes, or an instruction to later sessions.

All patterns run on the visible, case-folded text: format characters (zero width, bidirectional) are removed first,
since hidden ones would split a trigger word. They are bounded: no nested repetition.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import re2

from pipeline.session import normalised

_RULE = (
    r"^(?:please )?(?:always|never|do not|don't|avoid|make sure|be sure to|ensure|remember to) \w",
    r"^(?:please )?(?:use|prefer) (?!of\b|cases?\b|for\b)[\w`'\"./-]+",
    r"\b(?:from now on|in (?:all )?(?:the )?future(?: sessions?| conversations?| runs?)?,|going forward|henceforth)\b",
    r"\b(?:every time|whenever|each time|before) you \w+",
    r"\b(?:you|agents?|assistants?|models?|bots?) (?:must|shall|should|may) (?:always|never|not)\b",
    r"\b(?:agents|assistants|future sessions) (?:must|shall|should|have to)\b",
)
_PREFERENCE_OF_USER = (
    r"\bi(?:'d| would)? (?:really |much |generally |usually |always |strongly )?(?:prefer|rather)\b",
    r"\bi (?:really )?(?:don't|do not) (?:like|want to (?:see|use|have))\b",
    r"\bi (?:really )?(?:like|love|hate|dislike)\b(?! to (?:know|ask|see if)\b)",
    r"\bmy (?:preference|favou?rite|preferred)\b",
)
_PREFERENCE_TOLD = (r"\b(?:user|customer|client|he|she) (?:strongly |generally |usually )?prefers\b",)

_STAKES = {
    "access": (
        r"\b(?:passwords?|passphrases?|passcode|credentials?|(?:api|access|secret|private|ssh|signing|licen[sc]e) keys?"
        r"|(?:access|bearer|refresh|auth) tokens?|recovery codes?|mfa|2fa"
        r"|(?:root|admin|administrator|production|prod|sudo) (?:access|rights|login|account))\b",
    ),
    "money": (
        r"[$€£¥]\s?\d",
        r"\b\d[\d.,]*\s?(?:usd|eur|gbp|dollars?|euros?|pounds sterling)\b",
        r"\b(?:salar(?:y|ies)|wages?|payroll|invoices?|refunds?|payments?|billing|bank account|credit cards?"
        r"|gift cards?|loans?|mortgage|tax(?:es)?|debts?|paid)\b",
    ),
    "legal": (
        r"\b(?:legal(?:ly)?|lawyers?|attorneys?|lawsuits?|litigation|subpoenas?|gdpr|hipaa|ccpa|nda|court|settlement"
        r"|liabilit(?:y|ies)|indemnit\w+|copyright|trademarks?|patents?)\b",
    ),
    "medical": (
        r"\b(?:diagnosed|patients?|allerg(?:y|ies|ic)|medications?|medicines?|prescriptions?|pregnan(?:t|cy)|diabet\w+"
        r"|cancer|chemotherapy|therapists?|surger(?:y|ies)|illness|diseases?|depression|anxiety disorder|hospital"
        r"|dosage)\b",
    ),
    "employment": (
        r"\b(?:(?:got|getting) fired|fired (?:from|for)|laid off|layoffs?|resign(?:s|ed|ation)|hir(?:ed|ing)|employees?"
        r"|employment|job offer|performance review|promot(?:ed|ion) to|disciplinary|notice period)\b",
    ),
    "safety": (
        r"\b(?:safety|hazard(?:s|ous)?|weapons?|firearms?|suicid\w+|self-harm|explosives?|toxic|injur(?:y|ies|ed)"
        r"|emergency|evacuat\w+)\b",
    ),
    "deletion": (
        r"\b(?:delet\w+|drop(?:s|ped|ping)?|truncat(?:e|ed|es|ing)|purg\w+|wip(?:e|ed|es|ing)|eras\w+|destroy\w*)\b"
        r".{0,40}\b(?:databases?|tables?|data|records?|backups?|accounts?|buckets?|volumes?|disks?|production|customers?"
        r"|users?|history|repositor(?:y|ies))\b",
        r"\brm -[a-z]*r[a-z]*f|\brm -[a-z]*f[a-z]*r|\bforce[- ]push",
    ),
}

_WHAT = r"(?:instructions?|prompts?|rules|directions?|guidelines?|commands?|orders|policies|assignments?|restrictions)"
_WHOSE = r"(?:previous|prior|above|earlier|preceding|existing|initial|original|all|your|any|my|these|those)"
_LATER = r"(?:future|later|next|subsequent)"
_READER = r"(?:agents?|assistants?|models?|sessions?|conversations?|sel(?:f|ves)|llms?|ais?|chatbots?)"
_INSTRUCTION = (
    # lift what binds the reader
    rf"\b(?:ignor(?:e|ing)|disregard|forget|override|bypass|overlook|drop)\b.{{0,30}}\b{_WHOSE}\b.{{0,30}}\b{_WHAT}\b",
    r"\b(?:forget|disregard|ignore) (?:about )?(?:everything|all|anything)"
    r" (?:that |the |you |i |we |above|before|said|was|so far|else|previous|and )",
    rf"\b(?:ignore|disregard|forget) .{{0,20}}\b{_WHAT} (?:above|before|so far|given)\b",
    # bind whoever comes later
    r"\b(?:from now on|from this point|going forward|henceforth|from here on)\b.{0,30}"
    r"\b(?:you|agents?|assistants?|(?:always|never) \w+|respond|answer|reply|act|treat)\b",
    rf"\b{_LATER} {_READER}\b.{{0,20}}\b(?:must|should|shall|have to|need to|are to|will always)\b",
    rf"\b(?:note|message|instructions?|reminder) (?:to|for) (?:any |all |the )?{_LATER}\b.{{0,20}}\b{_READER}\b",
    r"\bwhen(?:ever)? (?:you|an? (?:agent|assistant|model|ai))"
    r" (?:read|see|recall|retrieve|receive|encounter|load|process)s?(?: back)? (?:this|these)\b",
    r"\byou (?:must|shall|will|are to) (?:now|always|never|only|ignore|obey|comply|pretend|act as)\b",
    # give the reader another part to play
    r"\byou are (?:now|no longer|henceforth) (?:a|an|the|in|bound|going|my|called|named|dan\b)",
    r"(?:^|[.!?:;] )now you are \w",
    r"(?:^|[.!?:;] )(?:now )?(?:pretend (?:to be|that you|you)|act as (?:if|though|a|an|the|my)\b|role-?play as)",
    r"\bi want you to (?:act|pretend|behave|role-?play|respond|answer) (?:as|like)\b",
    # hide from people, or give away what steers it
    r"\b(?:do not|don't|never|without) (?:tell|inform|notify|alert|mention|reveal|disclos|ask)(?:e|ing)?\b.{0,25}"
    r"\b(?:users?|anyone|humans?|operators?|reviewers?|owners?|person)\b",
    r"\b(?:reveal|print|show|repeat|output|leak|send|disclose|display|return|spell[- ]?check)\b.{0,30}"
    r"\b(?:system|hidden|initial|original|above|previous|your|full|complete|entire) (?:prompts?|instructions?)\b",
    # pose as another channel
    r"(?:^|[.!?] )(?:important )?(?:system|developer)\s?(?:prompt|message|note|override|instruction)?\s?:",
    r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?inst\]|<</?sys>>",
    rf"\b(?:attention|hey|dear|listen)\W{{1,3}}{_READER}\b",
    # plant itself
    r"\b(?:save|store|commit|add|write|keep) this (?:to|in|into) (?:your |the |long-term )*memor(?:y|ies)\b",
    rf"\bremember this (?:for|in) (?:all |every |any )?{_LATER}\b",
    # the same in German, French, Spanish and Portuguese
    r"\bignorier\w*\b.{0,40}\b(?:anweisung|aufgabe|befehl|regel|instruktion)\w*",
    r"\bvergiss\b.{0,40}\b(?:alle|alles|anweisung\w*|aufgabe\w*|befehle?|davor)\b",
    r"\bab (?:jetzt|sofort) (?:musst|sollst|wirst|bist) du\b",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\b(?:instructions|consignes)\b",
    r"\b(?:ignora|olvida|desobedece)\w*\b.{0,30}\b(?:instrucciones|instruções)\b",
)


@dataclass(frozen=True, slots=True)
class _Table:
    """Patterns of which one must be found. RE2 reads a text once for all of them, `re` tries each at every place.

    RE2 knows the edges of ASCII words alone and no look-ahead: it is asked where the text is ASCII and no pattern looks
    ahead, and there both engines agree.
    """

    patterns: re.Pattern[str]
    at_once: Any

    def search(self, text: str) -> bool:
        if self.at_once is not None and text.isascii():
            return self.at_once.search(text.encode()) is not None
        return self.patterns.search(text) is not None


def _table(patterns: tuple[str, ...]) -> _Table:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return _Table(re.compile(joined), None if "(?!" in joined else re2.compile(joined.encode()))


_RULES, _OWN, _TOLD, _INSTRUCTIONS = map(_table, (_RULE, _PREFERENCE_OF_USER, _PREFERENCE_TOLD, _INSTRUCTION))
_AREAS = {area: _table(patterns) for area, patterns in _STAKES.items()}


def visible(text: str) -> str:
    """Normalised, without characters that show nothing, with straight apostrophes."""
    if not text.isascii():  # no ASCII character is invisible
        text = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
    return normalised(text).replace("’", "'")


def is_rule(text: str) -> bool:
    """Is it an imperative addressed to future sessions?"""
    return _RULES.search(visible(text))


def is_preference(text: str, own_words: bool) -> bool:
    """Does the user say what they prefer (`own_words`), or is somebody said to prefer something?"""
    shown = visible(text)
    return _TOLD.search(shown) or (own_words and _OWN.search(shown))


def stakes(text: str) -> tuple[str, ...]:
    """The areas in which being wrong hurts: access, money, legal, medical, employment, safety, deletion."""
    shown = visible(text)
    return tuple(area for area, pattern in _AREAS.items() if pattern.search(shown))


def is_instruction_like(text: str) -> bool:
    """Is it aimed at steering whoever reads it later, rather than at saying how things are?"""
    return _INSTRUCTIONS.search(visible(text))
