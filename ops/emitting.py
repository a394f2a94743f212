"""From session logs to events on the stream, as the `emitter` user: scrubbed, and kept until they are in.

A sender keeps its event (here: its file) until Postgres has it, and sends again what a flushed Redis lost. Ingest
notes each arrival under the SHA-256 of the event's bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from ops.extracting import read_log
from pipeline.errors import AfterwordError
from pipeline.formats import ReadResult
from pipeline.redaction.scrub import scrub
from pipeline.session import SessionEnded
from pipeline.transcripts import deflate
from workers.keys import FIELD, STREAM, TAKEN_IN, ack_key, entry_ack_key

INLINE_BYTES = 64 * 1024
RESEND_SECONDS = 10.0


class Unacknowledged(AfterwordError):
    """Events were sent and not taken in. Is ingest running? See: afterword up."""


@dataclass(frozen=True, slots=True)
class Sender:
    """What the log itself does not say; None leaves it to the log."""

    org: str
    agent: str | None = None
    session: str | None = None
    project: str | None = None
    user: str | None = None
    spaces: tuple[str, ...] = ()
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An event ready to be sent, and what reading its log gave."""

    path: Path
    data: bytes
    result: ReadResult
    masks: int

    @property
    def sha256(self) -> str:
        """Names the event; the same session gives the same event."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def ack(self) -> str:
        return ack_key(self.data)


def prepare(path: Path, sender: Sender, *, format: str = "auto") -> Outgoing:
    """Read a session log into an event. Raises FormatError, also for a file that cannot be read."""
    log = read_log(path, format)
    result, transcript = log.result, log.transcript
    named = {name: value for name, value in _names(result, sender).items() if value}
    event = SessionEnded.model_validate({
        "org": sender.org, "session": path.stem, "agent": result.agent,
        "ended_at": log.ended_at, "spaces": sender.spaces, **named,
    })  # fmt: skip
    body = transcript.model_dump_json(exclude_none=True).encode()
    fields = event.model_dump(mode="json", exclude_none=True)
    if len(body) > INLINE_BYTES:
        fields["transcript_zstd"] = base64.b64encode(deflate(body)).decode()
    else:
        fields["transcript"] = json.loads(body)
    return Outgoing(path, json.dumps(fields, ensure_ascii=False).encode(), result, log.masks)


def _names(result: ReadResult, sender: Sender) -> dict[str, str | None]:
    names = {
        "session": sender.session or result.session,
        "agent": sender.agent,
        "project": sender.project or result.project,
        "user": sender.user or result.user,
    }
    cut = {name: scrub(value).text[:200] if value else None for name, value in names.items()}
    return cut | {"outcome": sender.outcome}


def send(redis: Redis, events: Sequence[Outgoing]) -> dict[str, str]:
    """One stream entry each, in one round trip; returns the entry's id by the event's SHA-256."""
    with redis.pipeline(transaction=False) as pipe:
        for event in events:
            pipe.xadd(STREAM, {FIELD: event.data})
        return {event.sha256: id_.decode() for event, id_ in zip(events, pipe.execute(), strict=True)}


def send_until_in(
    redis: Redis, events: list[Outgoing], *, timeout_seconds: float, on_arrival: Callable[[Outgoing, str | None], None]
) -> None:
    """Send, wait for every arrival, send again what is missing; `on_arrival` hears why one was rejected.

    Raises Unacknowledged when time is up.
    """
    deadline = time.monotonic() + timeout_seconds
    waiting, entries = list(events), dict[str, str]()
    last_sent = 0.0
    while waiting:
        if time.monotonic() > deadline:
            raise Unacknowledged(
                f"{len(waiting)} of {len(events)} events were not taken in. Is ingest running? See: afterword up"
            )
        try:
            if time.monotonic() - last_sent > RESEND_SECONDS:
                entries |= send(redis, waiting)
                last_sent = time.monotonic()
            waiting = list(_still_waiting(redis, waiting, entries, on_arrival))
        except RedisError as error:
            last_sent = 0.0
            if time.monotonic() + 0.5 > deadline:
                raise Unacknowledged(
                    f"Redis does not answer ({error}). Is the stack running? See: afterword up. "
                    f"Not taken in: {len(waiting)} of {len(events)} events; sending them again is harmless"
                ) from None
        time.sleep(0.02)


def _still_waiting(
    redis: Redis,
    waiting: list[Outgoing],
    entries: Mapping[str, str],
    on_arrival: Callable[[Outgoing, str | None], None],
) -> Iterator[Outgoing]:
    with redis.pipeline(transaction=False) as pipe:
        for event in waiting:
            pipe.get(event.ack)
            pipe.get(entry_ack_key(entries[event.sha256]))
        notes = pipe.execute()
    for event, note, refusal in zip(waiting, notes[::2], notes[1::2], strict=True):
        if note == TAKEN_IN.encode():
            on_arrival(event, None)
        elif refusal is not None:
            on_arrival(event, refusal.decode())
        else:
            yield event
