"""Cards, SSNs and IBANs: checksums and ranges decide, not look. Numbers are published samples."""

from __future__ import annotations

import pytest

from pipeline.redaction.detectors.card import Card
from pipeline.redaction.detectors.iban import Iban
from pipeline.redaction.detectors.ssn import Ssn
from pipeline.redaction.span import Detector


def found(detector: Detector, text: str) -> list[str]:
    return [text[s.start : s.end] for s in detector.detect(text)]


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("4111111111111111", ["4111111111111111"]),
        ("pay 4111 1111 1111 1111 now", ["4111 1111 1111 1111"]),
        ("5555-5555-5555-4444.", ["5555-5555-5555-4444"]),
        ("3782 822463 10005", ["3782 822463 10005"]),
        ("371449635398431", ["371449635398431"]),
        ("卡号4111111111111111。", ["4111111111111111"]),
        ("карта４１１１ １１１１ １１１１ １１１１", ["４１１１ １１１１ １１１１ １１１１"]),
        ("41\u200b11111111111111", ["41\u200b11111111111111"]),
        ('{"a":"\\n4111111111111111"}', ["4111111111111111"]),
        ("4012888888881881 4012-8888-8888-1881", ["4012888888881881", "4012-8888-8888-1881"]),
        ("4111 1111 1111 1111 123", ["4111 1111 1111 1111"]),
        ("card 4222222222222", ["4222222222222"]),
        ("order 4222222222222", []),
        ("4111111111111112", []),
        ("4111 1111-1111 1111", []),
        ("1748503543012", []),
        ("0.4111111111111111", []),
        ("id_4111111111111111", []),
        ("41111111111111110000", []),
        ("4111a111-1111-1111-1111-111111111111", []),
        ("0000 0000 0000 0000", []),
        ("9999999999999995", []),
    ],
)
def test_cards(text: str, cards: list[str]) -> None:
    assert found(Card(), text) == cards


@pytest.mark.parametrize(
    ("text", "proven", "by_look"),
    [
        ("her SSN is 536-90-4399", ["536-90-4399"], ["536-90-4399"]),
        ("ssn:536904399", ["536904399"], ["536904399"]),
        ("user_ssn=536904399", ["536904399"], ["536904399"]),
        ("536 90 4399 is my social security number", ["536 90 4399"], ["536 90 4399"]),
        ("SSN：５３６-９０-４３９９", ["５３６-９０-４３９９"], ["５３６-９０-４３９９"]),
        ("call 536-90-4399", [], ["536-90-4399"]),
        ("part 536904399", [], []),
        ("SSN 000-12-3456", [], []),
        ("SSN 666-12-3456", [], []),
        ("SSN 912-12-3456", [], []),
        ("SSN 536-00-4399", [], []),
        ("SSN 536-90-0000", [], []),
        ("SSN 078-05-1120", [], []),
        ("SSN 1536-90-43991", [], []),
        ("ssn 2-536-90-4399-7", [], []),
    ],
)
def test_ssns(text: str, proven: list[str], by_look: list[str]) -> None:
    assert found(Ssn(proven_only=True), text) == proven
    assert found(Ssn(), text) == by_look


@pytest.mark.parametrize(
    ("text", "ibans"),
    [
        ("DE89370400440532013000", ["DE89370400440532013000"]),
        ("an DE89 3704 0044 0532 0130 00 bis Montag", ["DE89 3704 0044 0532 0130 00"]),
        ("GB82 WEST 1234 5698 7654 32, please", ["GB82 WEST 1234 5698 7654 32"]),
        ("账号DE89370400440532013000。", ["DE89370400440532013000"]),
        ("iban: de89370400440532013000", ["de89370400440532013000"]),
        ("hash de89370400440532013000", []),
        ("DE88370400440532013000", []),
        ("XX89370400440532013000", []),
        ("DE8937040044053201300", []),
        ("xDE89370400440532013000", []),
    ],
)
def test_ibans(text: str, ibans: list[str]) -> None:
    assert found(Iban(), text) == ibans
