"""A pool for each login, and the way in: a transaction that carries the caller's token, as the token's own role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from db.connect import Connection, Pool, granted, open_pool
from db.tokens import ROLES, Grant, TokenRole, use
from gateway.context import Context


class Doors:
    """Connections are borrowed for one transaction, never while anything else is waited for."""

    def __init__(self, context: Context) -> None:
        limits = context.limits
        self._pools: dict[TokenRole, Pool] = {
            role: open_pool(
                context.databases[role], size=limits.pool_size, name=f"afterword-gateway-{role}",
                wait_seconds=limits.pool_wait_seconds, statement_seconds=limits.statement_seconds,
            )
            for role in ROLES
        }  # fmt: skip

    @contextmanager
    def enter(self, role: TokenRole, token: str) -> Iterator[tuple[Connection, Grant]]:
        """Raises NoGrant; DatabaseDown where no connection is free in time."""
        with self._pools[role].connection() as conn, granted(conn, token):
            yield conn, use(conn)

    @contextmanager
    def bare(self, role: TokenRole) -> Iterator[Connection]:
        """Without a token: for what belongs to no org."""
        with self._pools[role].connection() as conn:
            yield conn

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
