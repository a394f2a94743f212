"""Every Redis key, what it holds and what its loss costs. Redis may be flushed at any moment.

| key | type | meaning | when lost |
|---|---|---|---|
| `afterword:sessions` | stream | session-end events in one field | senders send again what is not acknowledged |
| `afterword:ack:<sha256 or entry id>` | string, 1 day | what became of this event | its sender sends again |
| `afterword:bell:<stage>` | string, 5 s | a bell for this stage is queued already | one bell too many |
| `afterword:rate:<token hash>:<minute>` | counter | the doors' rate limits | limits start anew |
| `rq:*` | RQ's own | queues `afterword-<stage>`, workers, jobs | housekeeping rings within seconds |
"""

from __future__ import annotations

import hashlib

STREAM = "afterword:sessions"
GROUP = "ingest"
FIELD = "event"
ACK_SECONDS = 86_400
TAKEN_IN = "in"
"""What the acknowledgement of an event holds that is a run; of a rejected one it holds the reason."""
BELL_SECONDS = 5
EVERY_KEY = ("rq:*", "afterword:*")
"""Patterns of all keys a worker may reach."""


def entry_ack_key(entry_id: str) -> str:
    """Where it is noted why the entry of that id was rejected: of this sending, not of an earlier one."""
    return _ack(entry_id)


def ack_key(event: bytes) -> str:
    """Where the arrival in Postgres of the event with exactly these bytes is noted."""
    return _ack(hashlib.sha256(event).hexdigest())


def _ack(of: str) -> str:
    return f"afterword:ack:{of}"


def bell_key(stage: str) -> str:
    return f"afterword:bell:{stage}"


def rate_key(of: bytes, window: int) -> str:
    """Requests of a token, by its hash, in one window."""
    return f"afterword:rate:{of.hex()}:{window}"


def queue_name(stage: str) -> str:
    return f"afterword-{stage}"
