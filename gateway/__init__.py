"""Doors for people and agents over HTTP: what a token's own login may do, and no more.

    request --> framing (id, size, type) --> caller (token, rate) --> route --> the role's own pool --> Postgres
                                                                      |
                                             sessions, proposals -----+--> spool --> outbox --> stream

Failure handling: a door never names an org; the grant comes from the token inside the database. No connection is held
while anything else is waited for. A pool that is spent, a database or a Redis that does not answer is 503 with
Retry-After. A session is answered with 202 once its stream entry is on disk, and kept in the spool until it is a run.
"""
