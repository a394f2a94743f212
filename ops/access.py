"""Who a command acts as: a connection by role, a minute's token, and the person at this machine as the actor."""

from __future__ import annotations

import getpass
import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic

import typer
from redis.exceptions import RedisError

from db import orgs
from db.connect import Connection, connect, granted
from db.events import Org
from db.tokens import Bearer, mint
from ops.credentials import Role, database_address, redis_address
from ops.settings import Settings, load
from workers.context import connect_redis

TOKEN_SECONDS = 60

Door = Callable[[], AbstractContextManager[Connection]]
"""A granted transaction each time it is entered."""


def actor() -> str:
    """The account at this machine, as the ledger names who acted; its number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


@contextmanager
def acting_as(role: Role, settings: Settings | None = None) -> Iterator[Connection]:
    """A connection as afterword_<role>. Raises SettingError, DatabaseDown."""
    with connect(database_address(settings or load(), role), name="afterword-cli") as conn:
        yield conn


@contextmanager
def acting_reviewer(org: Org) -> Iterator[Connection]:
    """One transaction as a reviewer of `org`: whoever is at this machine, under a token that lives a minute."""
    with granted_to(org, Bearer(role="reviewer", actor=actor())) as conn:
        yield conn


@contextmanager
def granted_to(org: Org, bearer: Bearer) -> Iterator[Connection]:
    """One transaction as `bearer`."""
    with door_of(org, bearer) as door, door() as conn:
        yield conn


@contextmanager
def door_of(org: Org, bearer: Bearer) -> Iterator[Door]:
    """Many transactions as `bearer`, one after another; the operator's login mints the tokens, the bearer's own uses
    them. A token lives a minute, and is renewed for who begins a transaction in the second half of it."""
    settings = load()
    token, renewed_at = "", -math.inf
    with acting_as("operator", settings) as operator, acting_as(bearer.role, settings) as conn:

        @contextmanager
        def enter() -> Iterator[Connection]:
            nonlocal token, renewed_at
            if monotonic() - renewed_at > TOKEN_SECONDS / 2:
                token, renewed_at = mint(operator, org.id, bearer, lives_seconds=TOKEN_SECONDS), monotonic()
            with granted(conn, token):
                yield conn

        yield enter


def known_org(name: str) -> Org:
    """Raises UnknownOrg with the names that exist."""
    with acting_as("operator") as conn:
        return orgs.get(conn, name)


def ring_bell(stage: str, *, past_marker: bool = False) -> bool:
    """Ring; a Redis that does not answer is said and costs only time, since housekeeping rings again."""
    from workers.bell import ring  # here, since it brings the metrics: see ops/commands/worker.py

    try:
        with connect_redis(redis_address(load(), "worker")) as redis:
            ring(redis, stage, past_marker=past_marker)
    except RedisError as error:
        typer.echo(f"the bell of {stage} was not rung ({type(error).__name__}): Redis does not answer", err=True)
        return False
    return True
