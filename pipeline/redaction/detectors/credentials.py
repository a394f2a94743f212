"""Credentials in the place that is made for them: userinfo of a URL, an Authorization header, a command's flag.

The place proves the kind; what stands in it counts unless it is a variable, a placeholder or a word about itself.
"""

from __future__ import annotations

import base64
import binascii

from pipeline.redaction.classes import SECRET
from pipeline.redaction.placeholder import placeholder, random_looking
from pipeline.redaction.rules import Rule, RuleDetector
from pipeline.redaction.wording import generated

_DIGITS_MIN = 4
_VALUE = r"[A-Za-z0-9._~+/=-]"
_QUOTES = r"[\\\"']{1,2}"
_WORD = r"[\\\"']{0,2}([^\s\"'\\;|&`<>()]{4,})"
_GAP = r"[\\\"'\s:=,>]{1,12}"


def _is_basic(value: bytes) -> bool:
    """Base64 of `user:password`."""
    try:
        _user, colon, password = base64.b64decode(value, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return False
    return (
        bool(colon and password) and password.isascii() and password.decode().isprintable() and _is_password(password)
    )


def _is_password(value: bytes) -> bool:
    return len(value) > 1 and not placeholder(value) and not (value.isdigit() and len(value) < _DIGITS_MIN)


def _is_generated(value: bytes) -> bool:
    return random_looking(value) and generated(value)


def _is_telling(value: bytes) -> bool:
    """A password that is no plain word: what follows a flag or `identified by` may be prose."""
    return _is_password(value) and (generated(value) or not value.isalpha())


def _is_user_and_password(value: bytes) -> bool:
    user, _, password = (part.strip(b"\\\"'") for part in value.partition(b":"))
    return _is_password(password) and b"$" not in user and not placeholder(user + password)


PATTERNS: tuple[Rule, ...] = (
    Rule(
        "connection_string",
        r"://[^\s/?#@:\"'<>\\]{0,64}:[^\s/?#:]",
        r"://[^\s/?#@:\"'<>\\]{0,64}:([^\s/?#\"'<>`\\]+)@[A-Za-z0-9\[$_{-]",
        _is_password,
        edge=False,
    ),
    Rule("url_token", r"https?://[A-Za-z0-9_-]{20,}@", r"https?://([A-Za-z0-9_-]{20,})@[A-Za-z0-9\[]", _is_generated),
    Rule("authorization_basic", "(?i:basic)[ ]", r"(?i:basic)[ ]+([A-Za-z0-9+/]{6,}={0,2})", _is_basic),
    Rule(
        "authorization_header",
        r"(?i:authorization)[\\\"']{0,3}[\s:=,]",
        rf"(?i:authorization{_GAP}[fb]?[\\\"'`]{{0,2}}(?:(?:bearer|token|apikey|key|bot)[ ]+)?)({_VALUE}{{8,}})",
        _is_generated,
    ),
    Rule("bearer_token", "(?i:bearer)[ ]", rf"(?i:bearer)[ ]+({_VALUE}{{20,}})", _is_generated),
    Rule(
        "command_user",
        r"curl\s",
        r"curl(?:[^\n|;]|\\\n){0,600}?\s(?:-u|--user|--proxy-user|-U)[ =]*"
        rf"(?:{_QUOTES})?([^\s\"'\\:]{{0,64}}(?:{_QUOTES})?:(?:{_QUOTES})?[^\s\"'\\]{{3,}})",
        _is_user_and_password,
    ),
    Rule(
        "sql_password",
        r"(?i:identified\s|with\s+(?:encrypted\s+)?password\s|set\s+password\s)",
        r"(?i:identified\s+(?:with\s+\w+\s+)?by|(?:with|set)\s+(?:encrypted\s+)?password)\s+(?:=\s*)?[\\]?['\"]([^'\"\\\s]{3,})",
        _is_telling,
    ),
    Rule("netrc", r"machine\s", r"machine\s+\S{1,80}\s+login\s+\S{1,80}\s+password\s+(\S{3,})", _is_password),
    Rule("azure_storage", "(?i:accountkey)=", r"(?i:accountkey)=([A-Za-z0-9+/]{40,}={0,2})", random_looking),
)

FLAG_PATTERNS: tuple[Rule, ...] = (
    Rule(
        "password_flag",
        r"[\s\"'`]-{1,2}(?:pass(?:word|wd|in|out|phrase)?|pwd)[ =]",
        rf"[\s\"'`]-{{1,2}}(?:pass(?:word|wd|phrase)?[ =]|pwd[ =]|pass(?:in|out|word)?[ =]pass:){_WORD}",
        _is_telling,
        edge=False,
    ),
    Rule(
        "password_option",
        r"(?:sshpass|docker login|mysql\w*|mariadb|redis-cli)\s",
        r"(?:sshpass\s+-p\s?|(?:mysql\w*|mariadb)\s(?:[^\n|;]{0,100}\s)?-p|docker login\s(?:[^\n|;]{0,200}\s)?-p\s"
        rf"|redis-cli\s(?:[^\n|;]{{0,100}}\s)?-a\s){_WORD}",
        _is_telling,
    ),
)

CREDENTIALS = RuleDetector("credentials", SECRET, PATTERNS)
FLAGS = RuleDetector("command_flags", SECRET, FLAG_PATTERNS)
"""Apart from the others: what follows a flag is a password only mostly, so the scrub does not mask it."""
