"""Fixed texts that must produce known detections. What they say of a detector: pipeline/redaction/health.py.

Numbers are published samples of their formats.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.redaction.canary_numbers import NUMBERS
from pipeline.redaction.classes import ADDRESS, SECRET


@dataclass(frozen=True, slots=True)
class Canary:
    """`expected` stands in `text` and must be found as `cls`. `language` is None where the format is no language's."""

    cls: str
    text: str
    expected: str
    language: str | None = None


_PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----"
)

_MANIFEST = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  shop: VHIwdWI0ZG9yLTM=\n"

CANARIES: tuple[Canary, ...] = (
    Canary(SECRET, f"The key is\n{_PEM}\n", _PEM),
    Canary(SECRET, "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    Canary(SECRET, "密钥是AKIAIOSFODNN7EXAMPLE。", "AKIAIOSFODNN7EXAMPLE", "zh"),
    Canary(SECRET, "The store is postgres://shop:Tr0ub4dor-3@db.internal/shop now.", "Tr0ub4dor-3"),
    Canary(SECRET, "Run sshpass -p Tr0ub4dor-3 ssh shop@db.internal first.", "Tr0ub4dor-3"),
    Canary(SECRET, "SHOP_DB_PASSWORD=Tr0ub4dor-3", "Tr0ub4dor-3"),
    Canary(SECRET, '{"kty": "oct", "k": "VHIwdWI0ZG9yLTNUcjB1YjRkb3ItMw"}', "VHIwdWI0ZG9yLTNUcjB1YjRkb3ItMw"),
    Canary(SECRET, "It answers to shop_live_8sK2mPq9LxT4vN7rB1wZ now.", "8sK2mPq9LxT4vN7rB1wZ"),
    Canary(SECRET, "The password of the shop is Tr0ub4dor+3", "Tr0ub4dor+3", "en"),
    *(
        Canary(SECRET, sentence.format("Tr0ub4dor-3"), "Tr0ub4dor-3", language)
        for language, sentence in (
            ("ar", "كلمة المرور هي {}"),
            ("de", "Das Passwort des Ladens lautet {}"),
            ("es", "La contraseña de la tienda es {}"),
            ("fr", "Le mot de passe de la boutique est {}"),
            ("ja", "パスワードは {} です"),
            ("ko", "비밀번호는 {} 입니다"),
            ("pt", "A senha da loja é {}"),
            ("ru", "Пароль от магазина — {}"),
            ("zh", "密码是{}。"),
        )
    ),
    Canary(SECRET, _MANIFEST, "VHIwdWI0ZG9yLTM="),
    # zxx is ISO 639 for no language: formats alone cover no org's.
    Canary(ADDRESS, "Write to P.O. Box 149.", "P.O. Box 149", "zxx"),
    *(Canary(cls, text, expected, language) for cls, language, text, expected in NUMBERS),
)
