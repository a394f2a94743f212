"""A password or token that a sentence tells, in many languages: `the password for staging is ...`, `密码是...`.

Keywords outside ASCII do not stand in the folded bytes, so this one reads the visible text. Sentences hold words where
a secret would be, so only what was generated counts, or what mixes letters, digits and signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.classes import SECRET
from pipeline.redaction.folding import fold
from pipeline.redaction.placeholder import placeholder
from pipeline.redaction.span import Interval, Span
from pipeline.redaction.wording import generated

_LATIN = (
    r"pass(?:wor[dt]|phrase|code)|kennwort|contrase(?:ñ|n)a|clave|senha|mot de passe|parola|has(?:ł|l)o|sifre"
    r"|wachtwoord|l(?:ö|o)senord|salasana|adgangskode|passord|m(?:ậ|a)t kh(?:ẩ|a)u|kata sandi|token"
    r"|jeton|secret|api[ -]?(?:key|schl(?:ü|u)ssel)|cl(?:é|e) api|chave (?:da )?api"
)
_OTHER = (
    r"şifre|парол[ьяе]|ключ|токен|секрет|密码|密碼|口令|令牌|密钥|密鑰|パスワード|暗証番号|トークン|비밀번호|암호|토큰"
    r"|كلمة (?:المرور|السر)"
    r"|סיסמ[הא]|पासवर्ड|รหัสผ่าน|κωδικός"
)
_IS = r"is|was|to|as|ist|lautet|war|es|era|est|était|è|é|jest|to|это|является|[:—-]|->|是|为|為|は|が|: "
_GAP = r"[^\n.:;=!?\"'`]"
_VALUE = r"[A-Za-z0-9!#$%&*+/=?@^_~.:-]{8,}"

_PATTERN = (
    rf"(?i)(?:(?:^|[^\w-])(?:{_LATIN})\b(?:{_GAP}{{0,40}}?\s(?:{_IS})|\s{_GAP}{{1,40}}?:\s)"
    rf"|(?:{_OTHER})[^\n!-~]{{0,24}}?[:—-]?)"
    rf"\s{{0,2}}[\"'`«「“]?({_VALUE})"
    rf"|\b(?:use|using|with)\s[\"'`]?({_VALUE})[\"'`]?\sas\s[^\n.:;]{{0,30}}?(?:{_LATIN})\b"
)
_TOLD = re2.compile(_PATTERN)
_TRIGGER = "".join(character if character.isascii() else r"\?" for character in _PATTERN).encode()
"""The same in the folded bytes, where what is not ASCII is a question mark."""
_CODE = re2.compile(rb"://|=.|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_SIGNS = frozenset(b"!#$%&*+=?@^~")


@dataclass(frozen=True)
class Spoken:
    name: str = "spoken"
    classes: frozenset[str] = frozenset({SECRET})

    @property
    def trigger(self) -> bytes:
        return _TRIGGER

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), SECRET, 0.7, self.name) for hit in _hits(folded.text)]


def _hits(text: str) -> Iterator[Interval]:
    for told in _TOLD.finditer(text):
        start, end = told.span(1) if told.start(1) >= 0 else told.span(2)
        value = text[start:end].rstrip(".:?").encode()
        if not text[start:end].endswith("..") and text[end : end + 1] != "(" and _is_secret(value):
            yield start, start + len(value)


def _is_secret(value: bytes) -> bool:
    digits = any(48 <= byte <= 57 for byte in value)
    letters = any(byte > 64 for byte in value)
    telling = generated(value) or not _SIGNS.isdisjoint(value[:-1])
    return digits and letters and telling and not placeholder(value) and not _CODE.search(value)
