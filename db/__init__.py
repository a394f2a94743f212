"""Postgres: the only place that imports psycopg. Migrations, named queries, and one module a concern.

    roles ── migrate ── connect            who may log in, what stands there, how one connects
    events ── runs ── stages               in: batches of events; claims and transitions; each stage's reads and writes
    ledger ── memories ── recall           what was decided, what is kept, what is handed out
    replays ── housekeeping ── overview    operate

Failure handling: every function takes an open connection and leaves transactions to `connection.transaction()`.
A database error is raised as psycopg raised it; `connect.is_transient` says whether the same call may succeed later.
"""
