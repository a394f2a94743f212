"""Classes of sensitive things: one table, from which tier, subject, requirement, glossary and labels follow.

HIGH mutates: the span is replaced before the first durable copy. LOW only flags: the content stays verbatim and waits
for a person. What is not decided falls to the strict side: a class without a row, and a row that names no tier, is
HIGH and personal, and a row is required of every org.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ClassTier(StrEnum):
    LOW = "low"
    HIGH = "high"


class FoundBy(StrEnum):
    """What a detector of the class goes by."""

    FORMAT = "format"  # a shape nothing else has
    CHECKSUM = "checksum"  # check digits and issued ranges
    CONTEXT = "context"  # words around it
    MODEL = "model"  # a token classification model
    CANARY = "canary"  # no detector: that there is none


@dataclass(frozen=True, slots=True)
class SensitiveClass:
    """A row. `example` is made up, or published as a sample; `personal`: it needs a subject to be active."""

    name: str
    meaning: str
    found_by: tuple[FoundBy, ...]
    example: str
    tier: ClassTier = ClassTier.HIGH
    personal: bool = True
    required: bool = True


SECRET, SSN, CC, EMAIL, NATID, IBAN = "secret", "ssn", "cc", "email", "natid", "iban"
PHONE, IP, PERSON, DOB, ADDRESS = "phone", "ip", "person", "dob", "address"
DETECTOR_UNAVAILABLE = "detector_unavailable"
UNKNOWN = "unknown"
"""A mask that names no class of the table: somebody typed it, and what was typed is no label. HIGH, like any other."""

_LOW = ClassTier.LOW
_F = FoundBy

CLASSES: tuple[SensitiveClass, ...] = (
    SensitiveClass(
        SECRET, "a credential: token, key, password in an assignment or connection string", (_F.FORMAT, _F.CONTEXT),
        "AKIAIOSFODNN7EXAMPLE", personal=False,
    ),
    SensitiveClass(CC, "a payment card's number", (_F.CHECKSUM,), "4111 1111 1111 1111", personal=False),
    SensitiveClass(IBAN, "a bank account's number", (_F.CHECKSUM,), "DE89 3704 0044 0532 0130 00", personal=False),
    SensitiveClass(SSN, "a social security number of the United States", (_F.CHECKSUM, _F.CONTEXT), "536-90-4399"),
    SensitiveClass(NATID, "a national or tax number of a person", (_F.CHECKSUM, _F.CONTEXT), "BSN 111222333"),
    SensitiveClass(EMAIL, "an e-mail address", (_F.FORMAT,), "ana@example.org"),
    SensitiveClass(PHONE, "a telephone number", (_F.CHECKSUM, _F.CONTEXT), "+44 20 7946 0958", _LOW),
    SensitiveClass(IP, "an internet address of a machine or connection", (_F.FORMAT,), "8.8.4.4", _LOW),
    SensitiveClass(PERSON, "a person's name", (_F.MODEL,), "Ana Silva", _LOW),
    SensitiveClass(DOB, "a date of birth", (_F.CONTEXT,), "born 4 May 1971", _LOW),
    SensitiveClass(ADDRESS, "a postal address or a part of one", (_F.MODEL,), "12 Elm Street, Springfield", _LOW),
    SensitiveClass(
        DETECTOR_UNAVAILABLE, "no healthy detector looked for a class the org requires", (_F.CANARY,),
        "no model for names is installed", _LOW, personal=False, required=False,
    ),
)  # fmt: skip

_BY_NAME = {row.name: row for row in CLASSES}

PERSONAL = frozenset(row.name for row in CLASSES if row.personal)
"""Classes that make a memory personal: it needs a subject before it may be active. So does one without a row."""

REQUIRED_BY_DEFAULT = frozenset(row.name for row in CLASSES if row.required)
"""Classes an org requires a healthy detector for unless an operator waives one by name."""


def tier_of(cls: str) -> ClassTier:
    """A bare lookup, in which absent means HIGH."""
    row = _BY_NAME.get(cls)
    return ClassTier.HIGH if row is None else row.tier


def is_personal(cls: str) -> bool:
    """Absent means yes. The database asks the same, over `memories.classes`."""
    row = _BY_NAME.get(cls)
    return row is None or row.personal


def label_of(cls: str) -> str:
    """The class where it is one of the table, else UNKNOWN: a label, or a ledger entry, is no place for typed text."""
    return cls if cls in _BY_NAME else UNKNOWN
