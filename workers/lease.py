"""Leases kept alive while a batch is worked: a thread renews at a third of their length."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import structlog

from db import runs
from db.connect import DatabaseError, Pool
from db.runs import Claimed

log = structlog.get_logger()


@contextmanager
def kept_lease(pool: Pool, lease: UUID, claimed: Sequence[Claimed], lease_seconds: float) -> Iterator[None]:
    """Renews until the block ends. A renewal that fails is logged; the compare-and-set at commit decides."""
    over = threading.Event()
    ids = [run.id for run in claimed]

    def renew() -> None:
        while not over.wait(lease_seconds / 3):
            try:
                with pool.connection() as conn:
                    runs.renew(conn, lease, ids, lease_seconds=lease_seconds)
            except DatabaseError as error:
                log.warning("renewal_failed", lease=str(lease), sqlstate=error.sqlstate)

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
