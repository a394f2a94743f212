"""Emails, phone numbers and IP addresses, and what only looks like one."""

from __future__ import annotations

import pytest

from pipeline.redaction.detectors.email import Email
from pipeline.redaction.detectors.ip import Ip
from pipeline.redaction.detectors.phone import Phone
from pipeline.redaction.span import Detector, resolve


def found(detector: Detector, text: str) -> list[str]:
    return [text[s.start : s.end] for s in resolve(detector.detect(text))]


@pytest.mark.parametrize(
    ("text", "emails"),
    [
        ("write to info@example.com.", ["info@example.com"]),
        ("<first.last+tag@mail.example.co.uk>", ["first.last+tag@mail.example.co.uk"]),
        ("邮箱info@example.com请查收", ["info@example.com"]),
        ("josé@example.com", ["josé@example.com"]),
        ("info@bücher.example", ["info@bücher.example"]),
        ("user@xn--80ak6aa92e.com", ["user@xn--80ak6aa92e.com"]),
        ("info＠example.com", ["info＠example.com"]),
        ("in\u200bfo@example.com", ["in\u200bfo@example.com"]),
        ("a\\ninfo@example.com", ["info@example.com"]),
        ("a@example.com,b@example.org", ["a@example.com", "b@example.org"]),
        ("git@github.com:org/repo.git", []),
        ("https://user:pass@example.com/x", []),
        ("ssh://git@example.com/x", []),
        ("logo@2x.png", []),
        ("react@18.2.0 and @types/node", []),
        ("noreply@example.com", []),
        ("info@localhost", []),
        ("@app.route('/x')", []),
    ],
)
def test_emails(text: str, emails: list[str]) -> None:
    assert found(Email(), text) == emails


@pytest.mark.parametrize(
    ("text", "phones"),
    [
        ("call +44 20 7946 0958 now", ["+44 20 7946 0958"]),
        ("+14155552671", ["+14155552671"]),
        ("(415) 555-2671", ["(415) 555-2671"]),
        ("415-555-2671", ["415-555-2671"]),
        ("030 901820", ["030 901820"]),
        ("电话+86 138 1234 5678。", ["+86 138 1234 5678"]),
        ("４１５-５５５-２６７１", ["４１５-５５５-２６７１"]),
        ("+44 20\u200b 7946 0958", ["+44 20\u200b 7946 0958"]),
        ("phone: 467-3395", ["467-3395"]),
        ("Phone:\n72 128 827", ["72 128 827"]),
        ("mobile 03.93.92.16.85", ["03.93.92.16.85"]),
        ("phone 532.123.45.67", ["532.123.45.67"]),
        ("phone: 5321234567", ["5321234567"]),
        ("Cep no: 05321234567", ["05321234567"]),
        ("Telepono: 09171234567", ["09171234567"]),
        ("我的手机号码是13812345678。", ["13812345678"]),
        ("電話番号は０９０−１２３４−５６７８です", ["０９０−１２３４−５６７８"]),
        ("телефон 8 (495) 123-45-67", ["8 (495) 123-45-67"]),
        ("звоните 8 800 555-35-35", ["8 800 555-35-35"]),
        ("her Japanese number is 090-1234-5678", ["090-1234-5678"]),
        ("mobile 0917-123-4567, 0918-123-4567", ["0917-123-4567", "0918-123-4567"]),
        ("Telefon: +905321234567, Ikinci: 05359876543", ["+905321234567", "05359876543"]),
        ("call 1-800-555-0199 now", ["1-800-555-0199"]),
        ("phone\nnothing\n5321234567", []),
        ("phone 1748503543", []),
        ("phone 1748503543012", []),
        ("phone: see 10.1.2.3:8080", []),
        ("2012-01-02 08", []),
        ("650//253-1234", []),
        ("911-89-1234", []),
        ("10.5281/zenodo.1234567", []),
        ("ISBN 978-3-16-148410-0", []),
        ("lines 120-180, 200-240", []),
        ("\x00(415) 555-2671\x00", ["(415) 555-2671"]),
        ("a phone at 10.20.30.40", []),
        ("4155552671", []),
        ("1748503543012", []),
        ("2024-01-15 08:00", []),
        ("phone updated 2024-01-15", []),
        ("15/01/2024", []),
        ("2024-01-15T10:20:30.123456Z", []),
        ("v10.4155.552671", []),
        ("main.py:415:55", []),
        ("40.7128, -74.0060", []),
        ("550e8400-e29b-41d4-a716-446655440000", []),
        ("192.168.100.200", []),
        ("1 000 000 000", []),
        ("port 8080-8090", []),
        ("-rw-r--r-- 1 1000 1000 4096", []),
    ],
)
def test_phones(text: str, phones: list[str]) -> None:
    assert found(Phone(), text) == phones


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("from 10.1.2.3.", ["10.1.2.3"]),
        ("http://192.168.1.22:3001/", ["192.168.1.22"]),
        ("адрес8.8.4.4", ["8.8.4.4"]),
        ("来自８.８.４.４的请求", ["８.８.４.４"]),
        ("10.0.0.1-10.0.0.5", ["10.0.0.1", "10.0.0.5"]),
        ("2a00:1450:4001:81b::200e", ["2a00:1450:4001:81b::200e"]),
        ("[2a00:1450:4001:81b::200e]:443", ["2a00:1450:4001:81b::200e"]),
        ("fe80::1%eth0", ["fe80::1"]),
        ("::ffff:10.0.0.1", ["::ffff:10.0.0.1"]),
        ("A099::09C0:876A:130B", ["A099::09C0:876A:130B"]),
        ("0:0:0:0:0:FFFF:129.144.52.38", ["0:0:0:0:0:FFFF:129.144.52.38"]),
        ("::8.8.4.4 and ::ffff:0:8.8.4.4", ["::8.8.4.4", "::ffff:0:8.8.4.4"]),
        ("8.8.4.\u200b4", ["8.8.4.\u200b4"]),
        ("\x008.8.4.4\x00", ["8.8.4.4"]),
        ("ratio 1:2:3:4 at 10:20:30.5, a::b, dead::beef", []),
        ("127.0.0.1 and 0.0.0.0 and ::1 and ::", []),
        ("192.0.2.7, 198.51.100.1, 203.0.113.9, 2001:db8::1", []),
        ("version 1.2.3.4", []),
        ("v1.2.3.4", []),
        ("Chrome/120.1.2.3", []),
        ("pkg==1.2.3.4", []),
        ("foo-1.2.3.4.tar.gz", []),
        ("1.2.3.4-rc1", []),
        ("1.2.3.4.5", []),
        ("256.1.1.1", []),
        ("OID 1.3.6.1.4.1.311", []),
        ("netmask 255.255.255.0", []),
        ("std::vector, Abc::def, 12:34:56, aa:bb:cc:dd:ee:ff", []),
        ("00:11:22:33:44:55:66:77", []),
    ],
)
def test_ips(text: str, addresses: list[str]) -> None:
    assert found(Ip(), text) == addresses
