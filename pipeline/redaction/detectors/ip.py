"""IP addresses by `ipaddress`; a version, a section number and a time are none.

Loopback, unspecified, multicast, reserved and documentation ranges point at nobody and do not count. IPv6 counts
written out in full, or in what IANA has assigned: global unicast, unique local, link local and the mapped and
translated forms of IPv4.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.boundary import stands_alone
from pipeline.redaction.classes import IP
from pipeline.redaction.folding import fold
from pipeline.redaction.span import Span

V4 = re2.compile(rb"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}")
_HEX = "[0-9A-Fa-f]{1,4}"
_DOTTED = r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"
V6 = re2.compile(
    (
        f"{_HEX}(?::{_HEX}){{2,6}}:[0-9A-Fa-f:.]*|[0-9A-Fa-f]{{2,4}}:(?:{_HEX}:){{0,6}}:[0-9A-Fa-f:.]*"
        f"|::[Ff]{{4}}:[0-9A-Fa-f.:]+|::{_DOTTED}"
    ).encode()
)
"""Three colons or a double one: fewer are a time of day."""
_VERSION_BEFORE = re2.compile(
    rb"(?i)(?:\b(?:versions?|ver|v|release|build|rev(?:ision)?|firmware|driver|section|chapter|clause|rfc)\b[\s:=.\"'#]{0,4}"
    rb"|[a-z]/|[a-z][a-z0-9_]{0,20}-v?|[=<>~!]=|[\^~]|\bv)$"
)
_VERSION_AFTER = re2.compile(rb"(?i)[+_]|-[a-z]|\.(?:dev|rc|post|tar|zip|gz|whl|jar|exe|dll|deb|rpm)\d*\b")
_BEFORE = 24
_DOCUMENTATION = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/8", "2001:db8::/32", "3fff::/20"),
    )
)
_ASSIGNED = tuple(
    map(
        ipaddress.ip_network,
        ("2000::/3", "fc00::/7", "fe80::/10", "64:ff9b::/96", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96"),
    )
)
_GROUPS_UNASSIGNED = 4
"""Groups that an address outside these must show: fewer are met in code, as in `a::b`."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Ip:
    """The address alone: no port, zone or prefix length."""

    name: str = "ip"
    classes: frozenset[str] = frozenset({IP})

    @property
    def trigger(self) -> bytes:
        return bytes(V4.pattern) + b"|" + bytes(V6.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        hits = [*_v4(folded.data), *_v6(folded.data)]
        return [Span(*folded.place(*hit), IP, 1.0, self.name) for hit in sorted(hits)]


def _v4(data: bytes) -> Iterator[tuple[int, int]]:
    for match in V4.finditer(data):
        start, end = match.span()
        if stands_alone(data, start, end) and points_at_someone(match.group()) and not _is_version(data, start, end):
            yield start, end


def _v6(data: bytes) -> Iterator[tuple[int, int]]:
    for match in V6.finditer(data):
        start, candidate = match.start(), match.group().rstrip(b".")
        if candidate.endswith(b":") and not candidate.endswith(b"::"):
            candidate = candidate[:-1]
        end = start + len(candidate)
        if data[max(0, start - 1) : start] != b":" and stands_alone(data, start, end) and points_at_someone(candidate):
            yield start, end


def points_at_someone(candidate: bytes) -> bool:
    """A valid address that could be a person's or a machine's."""
    try:
        address: Address = ipaddress.ip_address(candidate.decode())
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if not _is_written_out(candidate) and not any(address in network for network in _ASSIGNED):
            return False
        address = address.ipv4_mapped or address
    nobody = address.is_loopback or address.is_unspecified or address.is_multicast or address.is_reserved
    is_v4 = isinstance(address, ipaddress.IPv4Address)
    return not (nobody and is_v4) and not any(address in network for network in _DOCUMENTATION)


def _is_written_out(candidate: bytes) -> bool:
    """All eight groups, or most of them, and longer ones than the bytes of a hardware address or a fingerprint."""
    groups = [group for group in candidate.split(b":") if group]
    if b"::" in candidate:
        return len(groups) >= _GROUPS_UNASSIGNED and all(len(group) == 4 for group in groups)
    return len(groups) == 8 and len(candidate) > len(b"xx:xx:xx:xx:xx:xx:xx:xx")


def _is_version(data: bytes, start: int, end: int) -> bool:
    before = data[max(0, start - _BEFORE) : start]
    return _VERSION_BEFORE.search(before) is not None or _VERSION_AFTER.match(data, end) is not None
