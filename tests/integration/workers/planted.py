"""Values of every class, made up or published as samples, and where each may stand once the fleet has worked."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import REGISTRY, generate_latest
from redis import Redis

from ops.logs import configure
from tests.fleet import Fleet
from tests.scanning import find, in_logs, in_postgres, in_redis

PROVEN = {
    "secret": ("AKIA" + "Q7VZX3MT4LKNP2WB", "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp"),
    "cc": ("4111 1111 1111 1111",),
    "iban": ("DE89 3704 0044 0532 0130 00",),
    "ssn": ("536-90-4399",),
    "natid": ("111222333",),
}
"""Proven by format, or by checksum, or by range and context: masked before anything is stored."""
HIGH = {"email": ("ana.quintela@northwind-mail.example",), "secret": ("tr0ub4dor-Zx93kQ",)}
"""Replaced where a memory is made of it. In a transcript it stays, as said, until that is purged."""
LOW: dict[str, tuple[str, ...]] = {
    "phone": ("+44 20 7946 0958",),
    "ip": ("81.2.69.142",),
    "person": ("Ana Quintela-Brandt",),
    "address": ("12 Elm Tree Street, Springfield",),
    "dob": ("4 May 1971",),
}
"""Stays verbatim in a memory that waits for a person, and nowhere else but in the transcript."""

PEM = f"-----BEGIN PRIVATE KEY-----\n{PROVEN['secret'][1]}+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----"
SENTENCES = (
    f"My AWS key is {PROVEN['secret'][0]} for the staging bucket.",
    f"The deploy key of the search service is:\n{PEM}\n",
    f"The card {PROVEN['cc'][0]} was charged for the search service.",
    f"Refunds are paid to {PROVEN['iban'][0]} every Monday.",
    f"Her social security number, the SSN, is {PROVEN['ssn'][0]}.",
    f"Her burgerservicenummer, the BSN, is {PROVEN['natid'][0]}.",
    f"The staging database has DB_PASSWORD={HIGH['secret'][0]} in its env file.",
    f"Write to {HIGH['email'][0]} before a release.",
    f"Ring {LOW['phone'][0]} before a release.",
    f"The office is reached from {LOW['ip'][0]} alone.",
    f"{LOW['person'][0]}, born {LOW['dob'][0]}, lives at {LOW['address'][0]}.",
)
TOLD = " ".join(SENTENCES)

AS_SENT = {"transcripts.body", "rejected_events.body"}
"""What was sent, compressed and scrubbed of what is proven; kept for a stated time, for the few who may read it."""
WAITING = {"memories.content", "memories.rationale", "memories.evidence", "memories.lexemes", "memories.subject_id",
           "payloads.content", "envelopes.body", "rejected_events.detail"}  # fmt: skip
"""A memory and its candidate, in which LOW stays verbatim so that the reviewer's evidence survives; and the name of an
org, a space, a field or a file, if a sender chose such a one."""


def all_of(*groups: dict[str, tuple[str, ...]]) -> set[str]:
    return {value for group in groups for values in group.values() for value in values}


class Seen:
    """Everything the fleet left behind, searched."""

    def __init__(self, fleet: Fleet, logs: str) -> None:
        with Redis.from_url(fleet.valkey.url("admin")) as redis:
            self._places = [
                *in_postgres(fleet.database), *in_redis(redis), *in_logs(logs),
                *(("metrics", line) for line in generate_latest(REGISTRY).decode().splitlines()),
            ]  # fmt: skip

    def misplaced(self) -> dict[str, set[str]]:
        """Where something stands that may not stand there."""
        wrong = find(all_of(PROVEN), self._places)
        for group, places in ((HIGH, AS_SENT), (LOW, AS_SENT | WAITING)):
            for place, values in find(all_of(group), self._places).items():
                if place not in places:
                    wrong.setdefault(place, set()).update(values)
        return wrong

    def places(self, value: str) -> set[str]:
        return set(find([value], self._places))


@contextmanager
def logged(*, as_json: bool) -> Iterator[io.StringIO]:
    """What the process logs, as a fleet's would."""
    stream = io.StringIO()
    configure("debug", as_json=as_json, stream=stream)
    yield stream
