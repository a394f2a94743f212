"""Fixed texts that must produce known detections. What they say of a detector: pipeline/redaction/health.py.

Numbers are published samples of their formats.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.redaction.classes import CC, EMAIL, IBAN, IP, PHONE, SECRET, SSN


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
    Canary(SECRET, _MANIFEST, "VHIwdWI0ZG9yLTM="),
    Canary(CC, "Paid with 4111 1111 1111 1111.", "4111 1111 1111 1111"),
    Canary(CC, "カード番号は４１１１１１１１１１１１１１１１です", "４１１１１１１１１１１１１１１１", "ja"),
    Canary(SSN, "Her SSN is 536-90-4399.", "536-90-4399"),
    Canary(IBAN, "Bitte an DE89 3704 0044 0532 0130 00 zahlen.", "DE89 3704 0044 0532 0130 00"),
    Canary(EMAIL, "Write to info@example.com.", "info@example.com"),
    Canary(PHONE, "Call +44 20 7946 0958 tomorrow.", "+44 20 7946 0958"),
    Canary(PHONE, "Call (212) 555-0123 tomorrow.", "(212) 555-0123", "en"),
    Canary(IP, "The login came from 8.8.4.4.", "8.8.4.4"),
    Canary(IP, "The login came from 2001:4860:4860::8844.", "2001:4860:4860::8844"),
)
