"""Provider tokens and credentials in a known format: proven by shape, each format with its own rule.

Shapes follow the providers' documentation of their prefixes and lengths; lengths are taken as a minimum where
a provider says that they may grow.
"""

from __future__ import annotations

import base64
import binascii
import json

from pipeline.redaction.classes import SECRET
from pipeline.redaction.placeholder import genuine, placeholder, random_looking
from pipeline.redaction.rules import Rule, RuleDetector

_VALUE = r"[A-Za-z0-9._~+/=-]"
_GAP = r"[\\\"'\s:=,>]{1,12}"
_JWT_REACH = 4096


def _is_jwt(value: bytes) -> bool:
    """The first segment decodes to a JSON object that names an algorithm."""
    header = value.split(b".", 1)[0]
    try:
        fields = json.loads(base64.urlsafe_b64decode(header + b"=" * (-len(header) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "alg" in fields


def _is_basic(value: bytes) -> bool:
    """Base64 of `user:password`."""
    try:
        _user, colon, password = base64.b64decode(value, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return False
    return bool(colon and password) and not placeholder(password)


def _is_password(value: bytes) -> bool:
    return len(value) > 1 and not placeholder(value)


def _prefixed(name: str, prefix: str, body: str) -> Rule:
    """A prefix that only this provider uses, then a body at least as long as issued ones."""
    return Rule(name, prefix, f"(?:{prefix}){body}", genuine)


PATTERNS: tuple[Rule, ...] = (
    Rule("aws_access_key_id", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]", r"A[A-Z]{3}[A-Z0-9]{16}\b", genuine),
    Rule(
        "aws_secret_access_key",
        "(?i:aws_?secret|secret_?access_?key|aws_?session)",
        rf"(?i:aws_?secret_?(?:access_?)?key(?:_?id)?|secret_?access_?key|aws_?session_?token){_GAP}"
        r"([A-Za-z0-9/+]{40}\b|[A-Za-z0-9/+]{100,}={0,2})",
        random_looking,
        edge=False,
    ),
    _prefixed("github_token", "gh[opsur]_", r"[A-Za-z0-9]{36,}"),
    _prefixed("github_fine_grained", "github_pat_", r"[A-Za-z0-9_]{60,}"),
    _prefixed(
        "gitlab_token", "gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat|agent|imt|ffct)-", r"[A-Za-z0-9_=.-]{19,}[A-Za-z0-9_=]"
    ),
    Rule("slack_token", "xox[abeoprs]-", r"xox[abeoprs]-(?:\d-)?[A-Za-z0-9]+-[A-Za-z0-9-]{10,}", random_looking),
    _prefixed("slack_app_token", "xapp-", r"\d-[A-Z0-9]+-\d+-[a-z0-9]{20,}"),
    Rule(
        "slack_webhook",
        r"hooks\.slack\.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{30,})",
        random_looking,
    ),
    _prefixed("stripe_key", "[rs]k_(?:live|test|prod)_", r"[A-Za-z0-9]{10,}"),
    _prefixed("stripe_webhook_secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    _prefixed("anthropic_key", "sk-ant-", r"[A-Za-z0-9]+-[A-Za-z0-9_-]{20,}"),
    _prefixed("openai_key", "sk-(?:proj|svcacct|admin|or-v1)-", r"[A-Za-z0-9_-]{20,}"),
    Rule("secret_key", "sk-[A-Za-z0-9]{2}", r"sk-([A-Za-z0-9]{20,})", random_looking),
    _prefixed("google_api_key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _prefixed("google_client_secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    _prefixed("google_access_token", r"ya29\.", r"[A-Za-z0-9_-]{30,}"),
    _prefixed("npm_token", "npm_", r"[A-Za-z0-9]{36}\b"),
    _prefixed("pypi_token", "pypi-Ag", r"[A-Za-z0-9_-]{50,}"),
    _prefixed("huggingface_token", "hf_", r"[A-Za-z0-9]{34}\b"),
    _prefixed("sendgrid_key", r"SG\.", r"[A-Za-z0-9_=.-]{65}[A-Za-z0-9_=-]"),
    Rule("twilio_key", "SK[0-9a-f]{4}", r"SK[0-9a-f]{32}\b", genuine),
    Rule("telegram_bot_token", r"\d{8,10}:A", r"\d{8,10}:(A[A-Za-z0-9_-]{34})", genuine),
    Rule(
        "jwt",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,3}|(?:\.[A-Za-z0-9_-]+){3})",
        _is_jwt,
        reach=_JWT_REACH,
    ),
    Rule(
        "connection_string",
        r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/?#@:\"'<>]{0,64}:[^\s/?#:]",
        r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/?#@:\"'<>]{0,64}:([^\s/?#\"'<>`]+)@[A-Za-z0-9\[$_{-]",
        _is_password,
    ),
    Rule(
        "authorization_basic",
        "(?i:basic)[ ]",
        r"(?i:basic)[ ]+([A-Za-z0-9+/]{6,}={0,2})",
        _is_basic,
    ),
    Rule(
        "authorization_bearer",
        r"(?i:authorization)[\\\"']{0,3}[\s:=,]",
        rf"(?i:authorization{_GAP}[fb]?[\\\"'`]{{0,2}}(?:bearer|token)[ ]+)({_VALUE}{{8,}})",
        random_looking,
    ),
    Rule("bearer_token", "(?i:bearer)[ ]", rf"(?i:bearer)[ ]+({_VALUE}{{20,}})", random_looking),
)

TOKENS = RuleDetector("tokens", SECRET, PATTERNS)
