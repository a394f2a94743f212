"""The embedded services of one AFTERWORD_HOME, brought to this release: started, migrated, stamp registered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from db.migrate import LOGINS, create_database, migrate, register_stamp
from ops.compose import make_embedder
from ops.credentials import DATABASE, database_admin_address, database_password
from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from ops.settings import Settings
from pipeline.errors import EmbedderUnset

log = structlog.get_logger()


@contextmanager
def services(settings: Settings) -> Iterator[None]:
    """What is not managed elsewhere runs while the block does, and stops with this process, whatever kills it."""
    started: list[EmbeddedPostgres | EmbeddedValkey] = []
    try:
        if settings.database_url is None:
            started += _start(EmbeddedPostgres(settings.home))
        if settings.redis_url is None:
            started += _start(EmbeddedValkey(settings.home))
        yield
    finally:
        for service in reversed(started):
            service.stop()


def _start(service: EmbeddedPostgres | EmbeddedValkey) -> list[EmbeddedPostgres | EmbeddedValkey]:
    """The service if we started it; one that was running already belongs to somebody else."""
    if service.pid() is not None:
        return []
    service.start(die_with_parent=True)
    return [service]


def bring_up_to_date(settings: Settings) -> list[str]:
    """Migrate, and register the stamp of the chosen embedder; returns the migrations applied."""
    if settings.database_url is None:
        create_database(EmbeddedPostgres(settings.home).url(), DATABASE)
    passwords = {login: database_password(settings, login) for login in LOGINS}  # type: ignore[arg-type]
    applied = migrate(database_admin_address(settings), passwords)
    try:
        embedder = make_embedder(settings)
    except EmbedderUnset:
        return applied
    if embedder is not None:
        register_stamp(database_admin_address(settings), embedder.stamp)
    return applied
