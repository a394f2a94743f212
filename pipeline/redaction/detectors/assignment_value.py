"""Does a value fit the name it stands under? Words, references and hashes do not; what was generated does."""

from __future__ import annotations

from dataclasses import dataclass

import re2

from pipeline.redaction.placeholder import placeholder, varied
from pipeline.redaction.wording import generated


@dataclass(frozen=True, slots=True)
class Written:
    """How a value is written.

    quoted    as a string
    loose     where words are as likely: prose, between tags
    strong    beside its name with nothing between: only what is plainly a token counts
    followed  the byte after it
    foreign   it holds characters outside ASCII
    """

    quoted: bool
    loose: bool = False
    strong: bool = False
    followed: bytes = b""
    foreign: bool = False


_PASSWORDS = frozenset(b"password passwort passwd passphrase passcode pass pwd psk kennwort senha".split())
_REFUSED = frozenset(
    b"public pub csrf xsrf page next continuation cursor sync cancel cancellation pad eos bos unk mask sep cls special "
    b"primary foreign sort partition cache object bucket routing lookup index hot event issuer subject idempotency "
    b"dedup group query translation i18n label placeholder hint error errors invalid hash digest checksum sha1 sha256 "
    b"md5 etag fingerprint thumbprint node graph data row column map dict json field property attribute metric sql "
    b"cell block chunk image layer build commit revision ref blob merkle registry license changelog resource stop "
    b"compass bypass surpass encompass trespass overpass underpass monkey turkey donkey hockey whiskey jockey author "
    b"last first site recaptcha captcha authenticity non pubkey".split()
)
_QUALIFIED = frozenset(
    b"api secret access private auth encryption encrypt signing sign account app application client consumer master "
    b"service admin subscription shared session server security crypto hmac jwt webhook deploy integration write read "
    b"ingest function aes des user storage ssh pgp gpg oauth symmetric decryption license functions host project "
    b"org team personal developer dev prod machine bot device license cert certificate wallet tls ssl "
    b"adafruit adobe airtable algolia alibaba amplitude anthropic artifactory asana atlassian auth0 aws azure beamer "
    b"bitbucket bittrex brevo buildkite circleci clickhouse cloudflare clojars codecov cohere coinbase confluent "
    b"contentful datadog deepgram deepseek digitalocean discord docker dropbox elastic elevenlabs etsy facebook fastly "
    b"figma finicity finnhub firebase flickr freshbooks gcp gemini github gitlab google grafana groq heroku hubspot "
    b"huggingface infura intercom jfrog jira kraken kucoin launchdarkly linear linkedin linode lob looker mailchimp "
    b"mailgun mapbox mattermost maxmind meraki messagebird mistral mixpanel mongodb netlify newrelic notion npm nvidia "
    b"nytimes okta openai openrouter pagerduty paypal perplexity pinecone plaid postman pusher pypi rapidapi razorpay "
    b"replicate rubygems segment sendbird sendgrid sendinblue sentry shopify slack snowflake snyk sonar square stripe "
    b"sumo sumologic supabase telegram travis trello twilio twitch twitter typeform vault vercel yandex zendesk "
    b"zoom".split()
)
_WORD = re2.compile(rb"[A-Z]+(?:[a-z]+)?|[a-z]+|[0-9]+")
_REFERENCE = re2.compile(
    rb"(?i)^(?:https?|file|ftp|data|arn|urn|s3|gs|vault|ssm|secretsmanager|env|op|ref|sha\d+|md5|sha\d+-\S+)[:+~]|://"
    rb"|abcdefghij|0123456789(?:[0ab]|$)|^ssh-|^ENC[\[(]|^\{cipher\}|^!|^\.{0,2}/[\w.-]+(?:/|$)|^~/|^[a-z]:\\\\|\.(?:pem|key|crt|cer|json|ya?ml|txt|env|"
    rb"p12|pfx|jks|html?|php|jsx?|tsx?|py|go|rb|java|md|png|svg|sh|local|com|org|net|io)$|^\$|%[A-Z_]+%|^process\.|^os\."
    rb"|^self\.|^this\.|^config\.|::|\(\)|^@|<%"
)
_CONSTANT = re2.compile(rb"^[A-Z]+(?:_[A-Z]+)+$")
_EXPRESSION = re2.compile(rb"^[A-Za-z_][\w.]*\[|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_INNER_SIGNS = frozenset(b"-_./: ")
_UUID = re2.compile(rb"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HEX = re2.compile(rb"(?i)[0-9a-f]+")
_SHAPES = {
    b"asana": re2.compile(rb"(?i)\d{16}|[a-z0-9]{32}|[12]/.+"),
    b"databricks": re2.compile(rb"dapi[a-f0-9]{32}(?:-\d)?|dose.+|dkea.+"),
    b"discord": re2.compile(rb"\d{17,19}|[A-Za-z0-9_-]{32}|[A-Fa-f0-9]{64}|.+\..+\..+"),
    b"meraki": re2.compile(rb"[a-f0-9]{40}"),
    b"telegram": re2.compile(rb"\d{5,16}:A[A-Za-z0-9_-]{34}"),
}
"""Providers whose tokens have these forms and no other: what else stands under such a name is none."""
_PASSWORD_LENGTH = range(4, 129)
_PASSWORD_LOOSE_MIN = 6
_SECRET_MIN, _TOKEN_MIN, _KEY_MIN, _UNQUALIFIED_MIN = 6, 8, 8, 20
_DISTINCT_MIN = 4


def fits(name: bytes, value: bytes, written: Written) -> bool:
    """`name` ends with a keyword; `value` is what was assigned."""
    words = [word.group().lower() for word in _WORD.finditer(name.rsplit(b".", 1)[-1])]
    if not words or not _REFUSED.isdisjoint(words) or _is_reference(value, written):
        return False
    if words == [b"pass"] and written.loose:
        return False
    if any(word.endswith(tuple(_PASSWORDS)) for word in words):
        return not written.strong and _is_password(value, written, shouted=_shouted(name) and len(words) > 1)
    shape = next((shape for word, shape in _SHAPES.items() if word in words), None)
    if shape:
        return varied(value) and shape.fullmatch(value) is not None
    return _is_secret(words, value, written, shouted=_shouted(name))


def _shouted(name: bytes) -> bool:
    """An environment variable's name."""
    return name.isupper() and b" " not in name


def _is_reference(value: bytes, written: Written) -> bool:
    if any(byte <= 32 for byte in value) or placeholder(value) or _REFERENCE.search(value):
        return True
    return (_CONSTANT if written.quoted else _EXPRESSION).search(value) is not None or written.followed == b"("


def _is_password(value: bytes, written: Written, shouted: bool) -> bool:
    if len(value) not in _PASSWORD_LENGTH or len(set(value)) < _DISTINCT_MIN - 1:
        return False
    if generated(value):
        return True
    if value.isdigit() or written.foreign:
        return False
    plain = value.rstrip(b"?!.:*")
    signs = {byte for byte in plain if not chr(byte).isalnum()}
    digits = any(48 <= byte <= 57 for byte in plain)
    if not written.quoted and not shouted:
        return digits and len(value) >= _PASSWORD_LOOSE_MIN and b"." not in value and b"_" not in value
    return digits or bool(signs - _INNER_SIGNS) or (shouted and not written.quoted and b"." not in value)


def _is_secret(words: list[bytes], value: bytes, written: Written, shouted: bool) -> bool:
    if not (generated(value) or _UUID.fullmatch(value)) or not varied(value):
        return False
    mixed = any(48 <= byte <= 57 for byte in value) and any(byte > 64 for byte in value)
    if written.strong or written.loose:
        return mixed and len(value) >= _UNQUALIFIED_MIN
    if words[-1] == b"key" or words[-1].endswith(b"key"):
        return _is_key(words, value, mixed, shouted)
    if not written.quoted and not mixed and not shouted:
        return len(value) >= _UNQUALIFIED_MIN
    return len(value) >= (_SECRET_MIN if words[-1].endswith(b"secret") else _TOKEN_MIN)


def _is_key(words: list[bytes], value: bytes, mixed: bool, shouted: bool) -> bool:
    joined = words[-1].removesuffix(b"key")
    if not _QUALIFIED.isdisjoint([*words[:-1], joined]):
        return len(value) >= _KEY_MIN
    if not joined and len(words) == 1:
        return False
    if shouted:
        return len(value) >= _KEY_MIN
    plain = _UUID.fullmatch(value) or _HEX.fullmatch(value)
    return mixed and len(value) >= _UNQUALIFIED_MIN and not plain
