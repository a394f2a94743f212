"""The embedded services of one AFTERWORD_HOME, brought to this release: started, migrated, stamp registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import structlog

from db.migrate import LOGINS, create_database, migrate, register_stamp
from ops.compose import make_embedder
from ops.credentials import DATABASE, database_admin_address, database_password
from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from ops.probing import probe_apart
from ops.settings import Settings
from pipeline.errors import AfterwordError, EmbedderUnset, ModelUnavailable

log = structlog.get_logger()


Service = EmbeddedPostgres | EmbeddedValkey


@contextmanager
def services(settings: Settings) -> Iterator[Callable[[], None]]:
    """What is not managed elsewhere runs while the block does, and stops with this process, whatever kills it.

    Gives what starts again a server that ended: killed, or stopped by the other process that had started it.
    """
    needed: list[Service] = []
    if settings.database_url is None:
        needed.append(EmbeddedPostgres(settings.home))
    if settings.redis_url is None:
        needed.append(EmbeddedValkey(settings.home))
    ours: list[Service] = []
    try:
        for service in needed:
            _start(service, ours)
        yield lambda: _revive(needed, ours)
    finally:
        for service in reversed(ours):
            service.stop()


def _start(service: Service, ours: list[Service]) -> bool:
    """One that was running already belongs to somebody else."""
    started = service.start(die_with_parent=True)
    if started and service not in ours:
        ours.append(service)
    return started


def _revive(needed: Sequence[Service], ours: list[Service]) -> None:
    for service in needed:
        try:
            if service.pid() is None and _start(service, ours):
                log.warning("service_started_again", service=type(service).__name__)
        except (AfterwordError, OSError) as error:  # it is tried again at the next look
            log.error("service_down", service=type(service).__name__, error=str(error))


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
        _try(settings)
        register_stamp(database_admin_address(settings), embedder.stamp)
    return applied


def _try(settings: Settings) -> None:
    """Before there is a table of a wrong length. The bundled model is pinned; a silent endpoint is believed."""
    if settings.embedder == "local":
        return
    try:
        probe_apart(settings)
    except ModelUnavailable as error:
        log.warning("embedder_unavailable", error=str(error))
