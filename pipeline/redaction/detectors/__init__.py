"""The detectors, one per file, each with its patterns, context and validation.

    ALL      what the redactor runs over every candidate
    PROVEN   what the scrub trusts: hits proven by format, or by checksum, or by range and context

Failure handling: a detector raises on no text; one that finds nothing in its canary is down, and the classes
that nothing healthy covers hold every candidate.
"""

from __future__ import annotations

from pipeline.redaction.detectors.address import Address
from pipeline.redaction.detectors.assignment import Assignment
from pipeline.redaction.detectors.card import Card
from pipeline.redaction.detectors.credentials import CREDENTIALS, FLAGS
from pipeline.redaction.detectors.dob import Dob
from pipeline.redaction.detectors.email import Email
from pipeline.redaction.detectors.iban import Iban
from pipeline.redaction.detectors.ip import Ip
from pipeline.redaction.detectors.jwk import JsonWebKey
from pipeline.redaction.detectors.kubernetes import KubernetesSecret
from pipeline.redaction.detectors.natid import NatId
from pipeline.redaction.detectors.phone import Phone
from pipeline.redaction.detectors.private_key import PrivateKey
from pipeline.redaction.detectors.spoken import Spoken
from pipeline.redaction.detectors.ssn import Ssn
from pipeline.redaction.detectors.tokens import SELF_NAMED, TOKENS
from pipeline.redaction.span import Detector, Triggered

PROVEN: tuple[Triggered, ...] = (
    PrivateKey(),
    JsonWebKey(),
    TOKENS,
    CREDENTIALS,
    KubernetesSecret(),
    Card(),
    Ssn(proven_only=True),
    Iban(),
    NatId(proven_only=True),
)

ALL: tuple[Detector, ...] = (
    PrivateKey(),
    JsonWebKey(),
    TOKENS,
    SELF_NAMED,
    CREDENTIALS,
    KubernetesSecret(),
    FLAGS,
    Assignment(),
    Spoken(),
    Card(),
    Ssn(),
    Iban(),
    NatId(),
    Email(),
    Phone(),
    Ip(),
    Dob(),
    Address(),
)
