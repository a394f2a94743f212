"""Which addresses a transcript may be fetched from: tables of names and numbers, without a network."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address

import pytest

from pipeline.errors import EventError
from workers.addresses import hosts, is_public, target
from workers.fetch import Fetcher, resolved


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.example", {("a.example", 443)}),
        (" A.example:8443 ,b-2.example", {("a.example", 8443), ("b-2.example", 443)}),
        ("[2606:4700::1111]", {("2606:4700::1111", 443)}),
    ],
)
def test_a_list_names_hosts_with_their_port(text: str, found: set[tuple[str, int]]) -> None:
    assert hosts(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "a.example,", "*.example", ".example", "https://a.example", "a.example/x", "a.example:0", "a.example:65536",
     "me@a.example", "a.example.", "a b", "2606:4700::1111"],
)  # fmt: skip
def test_what_is_no_list_of_hosts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be hosts, or host:port"):
        hosts(text)


ALLOWED = hosts("Origin.test, origin.test:8443,[2606:4700::1111]:444")


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("https://elsewhere.test/t", "elsewhere.test:443 is not one of"),
        ("https://sub.origin.test/t", "sub.origin.test:443 is not one of"),
        ("https://origin.test./t", "is not one of"),
        ("https://origin.test:444/t", "origin.test:444 is not one of"),
        ("https://origin.test:0/t", "origin.test:0 is not one of"),
        ("https://origin.test:99999/t", "not a plain https: address"),
        ("https://me:private@origin.test/t", "holds credentials"),
        ("https://@origin.test/t", "holds credentials"),
        ("https://elsewhere.test\\@origin.test/t", "not a plain https: address"),
        ("https://ori\tgin.test/t", "not a plain https: address"),
        ("https://origin.test/t\r\nX: y", "not a plain https: address"),
        ("https://origin.test/a b", "not a plain https: address"),
        ("https://örigin.test/", "not a plain https: address"),
        ("https:///t", "not a plain https: address"),
        ("https://[origin.test/t", "not a plain https: address"),
        ("http://origin.test/t", "not a plain https: address"),
        ("file:///etc/passwd", "not a plain https: address"),
    ],
)
def test_an_address_off_the_list_is_refused_unasked(url: str, cause: str) -> None:
    def unexpected(host: str, port: int) -> list[str]:
        raise AssertionError(f"{host}:{port} was looked up")

    with pytest.raises(EventError) as refused:
        Fetcher(ALLOWED, resolve=unexpected)(url)
    message = str(refused.value)
    assert (refused.value.reason, cause in message, "private" in message) == ("url_not_allowed", True, False), message


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://origin.test", ("origin.test", 443, "/")),
        ("https://ORIGIN.test:8443/a%20b?c=d#e", ("origin.test", 8443, "/a%20b?c=d")),
        ("https://[2606:4700::1111]:444/x", ("2606:4700::1111", 444, "/x")),
    ],
)
def test_an_address_on_the_list(url: str, asked: tuple[str, int, str]) -> None:
    found = target(url, ALLOWED)
    assert (found.host, found.port, found.path) == asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("1.1.1.1", True),
        ("2606:4700:4700::1111", True),
        ("::ffff:1.1.1.1", True),
        ("64:ff9b::101:101", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("172.16.0.1", False),
        ("192.0.0.8", False),
        ("192.168.1.1", False),
        ("198.18.0.1", False),
        ("203.0.113.9", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::127.0.0.1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("::ffff:0:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::a00:1", False),
        ("2001::1", False),
        ("2001:db8::1", False),
        ("2002:7f00:1::", False),
        ("2002:a9fe:a9fe::1", False),
        ("3fff::1", False),
        ("fc00::1", False),
        ("fd00:ec2::254", False),
        ("fe80::1", False),
        ("fec0::1", False),
        ("ff0e::1", False),
    ],
)
def test_only_what_anybody_could_reach_is_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def test_this_machine_is_refused_by_the_real_resolver() -> None:
    with pytest.raises(EventError, match="localhost: the name leads to an address that is not public"):
        Fetcher(hosts("localhost"))("https://localhost/")


def nowhere(host: str, port: int) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, "private words")


@pytest.mark.parametrize(
    ("host", "resolve", "cause"),
    [
        ("a" * 64 + ".test", resolved, "the name does not resolve"),  # no label is as long
        ("gone.test", nowhere, "the name does not resolve"),
        ("gone.test", lambda *_: [], "the name has no address"),
    ],
)
def test_a_name_that_leads_nowhere_may_lead_somewhere_later(
    host: str, resolve: Callable[[str, int], list[str]], cause: str
) -> None:
    with pytest.raises(EventError) as refused:
        Fetcher(hosts(host), resolve=resolve)(f"https://{host}/")
    assert (refused.value.reason, str(refused.value)) == ("url_unavailable", f"{host}: {cause}")
