"""Where a transcript may be fetched from: hosts on a list, at addresses that anybody could reach."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from pipeline.errors import EventError
from pipeline.intake import RejectReason

HTTPS_PORT = 443

Address = IPv4Address | IPv6Address
Hosts = frozenset[tuple[str, int]]
"""(name in lower case, port) of each host that may be asked."""

_HOST = re.compile(r"([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?")
_PLAIN = re.compile(r"https://[!-\[\]-~]+")  # neither spaces, controls nor a backslash, which readers differ about

_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
# IANA's special-purpose registries list these as not global; releases of Python before 2024 count them as global.
_SPECIAL = (ip_network("192.0.0.0/24"), ip_network("3fff::/20"))


@dataclass(frozen=True, slots=True)
class Target:
    """One host on the list, and what to ask it for."""

    host: str
    port: int
    path: str


def hosts(text: str) -> Hosts:
    """From `a.example, b.example:8443`; without a port it is 443. Raises ValueError."""
    found = set()
    for entry in text.split(","):
        match = _HOST.fullmatch(entry.strip().lower())
        if match is None or not 0 < (port := int(match[3] or HTTPS_PORT)) < 65_536:
            raise ValueError("must be hosts, or host:port, separated by commas")
        found.add((match[1].strip("[]"), port))
    return frozenset(found)


def target(url: str, allowed: Hosts) -> Target:
    """Raises EventError for what is no plain `https:` address of an allowed host."""
    try:
        parts = urlsplit(url) if _PLAIN.fullmatch(url) else None
        port = (parts.port if parts.port is not None else HTTPS_PORT) if parts else 0
    except ValueError:
        parts = None
    if parts is None or not parts.hostname:
        raise EventError(RejectReason.URL_NOT_ALLOWED, "transcript_url is not a plain https: address")
    if "@" in parts.netloc:
        raise EventError(RejectReason.URL_NOT_ALLOWED, f"{parts.hostname}: the address holds credentials")
    if (parts.hostname, port) not in allowed:
        raise EventError(
            RejectReason.URL_NOT_ALLOWED, f"{parts.hostname}:{port} is not one of AFTERWORD_TRANSCRIPT_HOSTS"
        )
    return Target(parts.hostname, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def is_public(address: Address) -> bool:
    """Whether it is globally routable unicast, and so is the IPv4 address that it stands for, if it does."""
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    if any(address in special for special in _SPECIAL) or not address.is_global or address.is_multicast:
        return False
    return isinstance(address, IPv4Address) or address in _UNICAST


def _embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address that a mapped, 6to4 or NAT64 address leads to."""
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def parsed(addresses: list[str]) -> list[Address]:
    """A link's name after % does not change what an address is."""
    return [ip_address(text.partition("%")[0]) for text in addresses]
