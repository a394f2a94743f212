"""Numbers by checksum: recogniser cases as they stand and behind a word of their language, and digits that are nothing.

    python -m tests.benchmarks.detection.numbers DATA

A positive counts if exactly the expected spans are found in its class; a negative and a bare run of digits count as
hit if any number is found in them.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import re2
from rich.console import Console
from rich.table import Table

from pipeline.redaction.detectors.card import Card
from pipeline.redaction.detectors.dob import Dob
from pipeline.redaction.detectors.email import Email
from pipeline.redaction.detectors.iban import Iban
from pipeline.redaction.detectors.ip import Ip
from pipeline.redaction.detectors.natid import NatId
from pipeline.redaction.detectors.phone import Phone
from pipeline.redaction.detectors.ssn import Ssn
from pipeline.redaction.span import Interval, resolve

DETECTORS = (Card(), Ssn(), Iban(), NatId(), Email(), Phone(), Ip(), Dob())
CLASSES: Mapping[str, str] = {
    "CREDIT_CARD": "cc", "US_SSN": "ssn", "IBAN_CODE": "iban", "EMAIL_ADDRESS": "email", "IP_ADDRESS": "ip",
    "PHONE_NUMBER": "phone", "PH_MOBILE_NUMBER": "phone", "TR_PHONE_NUMBER": "phone", "DATE_TIME": "dob",
    "MEDICAL_LICENSE": "natid",
}  # fmt: skip
NO_CLASS = re2.compile("PLATE|VEHICLE|KFZ|PLZ|POSTCODE|BANK|ROUTING|CRYPTO|MAC_|URL|^PERSON$|LOCATION")
"""Entities of no class of ours. What else begins with a country is a national number."""
WORDS: Mapping[str, Mapping[str, str]] = {
    "natid": {
        "en": "identification number", "de": "Ausweisnummer", "es": "número de identificación", "fi": "henkilötunnus",
        "it": "documento d'identità", "ko": "신분증 번호", "pl": "numer identyfikacyjny", "sv": "personnummer",
        "th": "เลขประจำตัวประชาชน", "tr": "kimlik numarası",
    },
    "ssn": {"en": "social security number"},
    "phone": {"en": "phone", "tr": "telefon"},
    "dob": {"en": "date of birth"},
}  # fmt: skip
LANGUAGES = {"kr": "ko", "se": "sv", "de": "de", "es": "es", "fi": "fi", "it": "it", "pl": "pl", "th": "th", "tr": "tr"}
OWN_WORDS: Mapping[str, str] = {
    "us_passport": "passport", "uk_passport": "passport", "us_driver_license": "driver's license",
    "ng_nin": "NIN", "uk_driving_licence": "driving licence",
}  # fmt: skip
"""Shapes that are too common for a word that any document could stand behind."""
BARE_SEED, BARE_EACH = 7, 3000


@dataclass(frozen=True)
class Case:
    recogniser: str
    cls: str
    text: str
    count: int
    spans: tuple[Interval, ...] | None

    def worded(self) -> Case:
        """The case with a word of its language put before its first number."""
        words = WORDS.get(self.cls)
        if words is None:
            return self
        language = LANGUAGES.get(self.recogniser[:2], "en")
        own = next((word for name, word in OWN_WORDS.items() if self.recogniser.startswith(name)), None)
        put = (own or words.get(language) or words["en"]) + " "
        at = self.spans[0][0] if self.spans else 0
        spans = self.spans and tuple((start + len(put), end + len(put)) for start, end in self.spans)
        return Case(self.recogniser, self.cls, self.text[:at] + put + self.text[at:], self.count, spans)

    def found(self) -> bool:
        spans = tuple((s.start, s.end) for s in hits(self.text) if s.cls == self.cls)
        return spans == self.spans if self.spans else len(spans) == self.count


def hits(text: str) -> Any:
    return resolve(span for detector in DETECTORS for span in detector.detect(text))


def cases(data: Path) -> Iterator[Case]:
    for line in (data / "pii" / "presidio_recognizer_cases.jsonl").read_text().splitlines():
        row = json.loads(line)
        entity = (row["entities"] or [""])[0]
        cls = None if NO_CLASS.search(entity) else CLASSES.get(entity) or ("natid" if entity[2:3] == "_" else None)
        if cls and row["expected_len"] is not None:
            yield Case(row["recognizer"], cls, row["text"], row["expected_len"], _spans(row["expected_positions"]))


def _spans(positions: Any) -> tuple[Interval, ...] | None:
    if not positions:
        return None
    pairs = positions if isinstance(positions[0], list) else [positions]
    return tuple((start, end) for start, end in pairs)


def _points_at_nobody(case: Case) -> bool:
    """Loopback, private and documentation addresses are no one's."""
    for start, end in (case.cls == "ip" and case.spans) or ():
        address = ipaddress.ip_address(case.text[start:end].split("%")[0].split("/")[0])
        mapped = getattr(address, "ipv4_mapped", None) or address
        if not mapped.is_global or mapped.is_multicast:
            return True
    return False


def bare_digits() -> dict[str, list[str]]:
    """Digits that are nothing: time stamps of this century, dates with a serial, random ones of 8 to 20."""
    chance = random.Random(BARE_SEED)
    seconds = [chance.randrange(1_000_000_000, 2_000_000_000) for _ in range(BARE_EACH)]
    return {
        "seconds": [str(s) for s in seconds],
        "milliseconds": [f"{s}{chance.randrange(1000):03d}" for s in seconds],
        "microseconds": [f"{s}{chance.randrange(10**6):06d}" for s in seconds],
        "nanoseconds": [f"{s}{chance.randrange(10**9):09d}" for s in seconds],
        "orders": [
            f"20{chance.randrange(10, 30)}{chance.randrange(1, 13):02d}{chance.randrange(1, 29):02d}"
            f"{chance.randrange(10 ** (digits := chance.randrange(2, 9))):0{digits}d}"
            for _ in seconds
        ],
        "random": ["".join(chance.choices("0123456789", k=chance.randrange(8, 21))) for _ in seconds],
    }


def measure(data: Path) -> dict[str, float]:
    """recogniser_tp: of positives, as they stand or behind a word; recogniser_fp: of negatives as they stand."""
    everything = [case for case in cases(data) if not _points_at_nobody(case)]
    positives = [case.worded() for case in everything if case.count]
    negatives = [case for case in everything if not case.count]
    found = [case.found() for case in positives]
    hit = [bool(hits(case.text)) for case in negatives]
    bare = {kind: sum(bool(hits(text)) for text in texts) / len(texts) for kind, texts in bare_digits().items()}
    _show(positives, found, negatives, hit)
    return {
        "recogniser_tp": sum(found) / len(found),
        "recogniser_fp": sum(hit) / len(hit),
        "recogniser_fp_worded": sum(bool(hits(case.worded().text)) for case in negatives) / len(negatives),
        "bare_digits_hit": sum(bare.values()) / len(bare),
        **{f"bare_{kind}_hit": rate for kind, rate in bare.items()},
    }


def _show(positives: list[Case], found: list[bool], negatives: list[Case], hit: list[bool]) -> None:
    """Per class: positives found, negatives hit, and the recognisers that miss."""
    rows: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    missing: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for case, good in zip(positives, found, strict=True):
        rows[case.cls][0] += good
        rows[case.cls][1] += 1
        if not good:
            missing[case.cls][case.recogniser] = missing[case.cls].get(case.recogniser, 0) + 1
    for case, wrong in zip(negatives, hit, strict=True):
        rows[case.cls][2] += wrong
        rows[case.cls][3] += 1
    table = Table("class", "positives", "negatives hit", "missed")
    for cls, (good, of, wrong, negative) in sorted(rows.items()):
        table.add_row(cls, f"{good}/{of}", f"{wrong}/{negative}", " ".join(f"{r}:{n}" for r, n in missing[cls].items()))
    Console(width=120).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    print(json.dumps(measure(parser.parse_args().data), indent=1))
