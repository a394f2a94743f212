"""Classes of sensitive things and the tier each falls into: a bare lookup, in which absent means HIGH.

HIGH mutates: the span is replaced before the first durable copy. LOW only flags: the content stays verbatim
and waits for a person. A class nobody thought of yet is HIGH because it is not in the table.
"""

from __future__ import annotations

from enum import StrEnum


class ClassTier(StrEnum):
    LOW = "low"
    HIGH = "high"


SECRET, SSN, CC, EMAIL, NATID, IBAN = "secret", "ssn", "cc", "email", "natid", "iban"
PHONE, IP, PERSON, DOB, ADDRESS = "phone", "ip", "person", "dob", "address"
DETECTOR_UNAVAILABLE = "detector_unavailable"

_TIERS = {
    PHONE: ClassTier.LOW,
    IP: ClassTier.LOW,
    PERSON: ClassTier.LOW,
    DOB: ClassTier.LOW,
    ADDRESS: ClassTier.LOW,
    DETECTOR_UNAVAILABLE: ClassTier.LOW,
}

PERSONAL = frozenset({PERSON, PHONE, ADDRESS, DOB, EMAIL, IP, SSN, NATID})
"""Classes that make a memory personal: it needs a subject before it may be active."""

REQUIRED_BY_DEFAULT = frozenset({SECRET, SSN, CC, EMAIL, NATID, IBAN, PHONE, IP, PERSON, DOB, ADDRESS})
"""Classes an org requires a healthy detector for unless an operator waives one by name."""


def tier_of(cls: str) -> ClassTier:
    return _TIERS.get(cls, ClassTier.HIGH)
