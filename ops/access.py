"""Who a command acts as: a connection by role, a minute's token, and the person at this machine as the actor."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager

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
    """One transaction as `bearer`; the operator's login mints the token, the bearer's own uses it."""
    settings = load()
    with acting_as("operator", settings) as conn:
        token = mint(conn, org.id, bearer, lives_seconds=TOKEN_SECONDS)
    with acting_as(bearer.role, settings) as conn, granted(conn, token):
        yield conn


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
