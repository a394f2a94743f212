"""Connections: autocommit, rows as dicts, times in UTC, transactions always explicit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import errors
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

Row = dict[str, Any]
Connection = psycopg.Connection[Row]
Pool = ConnectionPool[Connection]
DatabaseError = psycopg.Error
DatabaseDown = psycopg.OperationalError

_OPTIONS = "-c TimeZone=UTC -c search_path=afterword,public"


def configure(conn: psycopg.Connection[Any]) -> None:
    """Vectors as numpy arrays, where the extension is there."""
    register_vector(conn)


def connect(conninfo: str, *, name: str = "afterword") -> Connection:
    """One connection for one caller. Raises DatabaseDown when there is no server."""
    conn = psycopg.Connection[Row].connect(
        conninfo, autocommit=True, row_factory=dict_row, application_name=name, options=_OPTIONS, connect_timeout=10
    )
    configure(conn)
    return conn


def open_pool(
    conninfo: str,
    *,
    size: int,
    name: str = "afterword",
    wait_seconds: float = 30,
    statement_seconds: float | None = None,
) -> Pool:
    """A pool of at most `size`; checks a connection before handing it out, so that a restart is survived.

    One that is spent raises DatabaseDown after `wait_seconds`; a statement is cancelled after `statement_seconds`.
    """
    limit = "" if statement_seconds is None else f" -c statement_timeout={int(statement_seconds * 1000)}"
    return ConnectionPool(
        conninfo,
        min_size=1,
        max_size=size,
        open=True,
        timeout=wait_seconds,
        kwargs={"autocommit": True, "row_factory": dict_row, "application_name": name, "options": _OPTIONS + limit},
        connection_class=psycopg.Connection[Row],
        configure=configure,
        check=ConnectionPool.check_connection,
    )


@contextmanager
def granted(conn: Connection, token: str) -> Iterator[Connection]:
    """A transaction that carries the caller's token; what it may see and do follows from the token alone."""
    with conn.transaction():
        conn.execute("SELECT set_config('afterword.token', %s, true)", (token,))
        yield conn


def is_transient(error: DatabaseError) -> bool:
    """Whether the same statement may succeed later: lost connections, deadlocks, serialisation, no resources."""
    return isinstance(error, (psycopg.OperationalError, errors.TransactionRollback, psycopg.InterfaceError))


def is_data(error: DatabaseError) -> bool:
    """Whether the rows themselves were refused, so that a batch is worth committing one by one."""
    return isinstance(error, (psycopg.DataError, psycopg.IntegrityError, errors.ProgramLimitExceeded))
