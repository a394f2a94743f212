"""Events into runs, whoever hands them over: the stream's consumers, or a replay of what was refused.

One batch is one transaction. Unknown orgs and spaces, keys that stand for other content and what does not parse are
kept scrubbed, with a reason of a closed list. Events are opened before the transaction, since a transcript may have to
be fetched: no connection to the database waits on a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from db import events as store
from db import ledger
from db.connect import Connection, DatabaseError, is_data
from db.events import NewRun, Org
from db.subjects import erased_events
from pipeline.errors import EventError
from pipeline.intake import Arrival, Fetch, RejectReason, first_own_turn, is_kept, kept_copy, receive
from pipeline.redaction.redactor import without_high
from pipeline.session import EventKind, run_metadata
from pipeline.subjects import Keyring, event_names
from pipeline.transcripts import deflate, pack
from workers import metrics
from workers.bell import ring
from workers.context import Limits, Resources

KILLS_FROM = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as it came; `deliveries` counts this one. A replayed original has no stream id."""

    id: str | None
    data: bytes
    deliveries: int = 1


@dataclass(frozen=True, slots=True)
class Rejected:
    entry: Entry
    reason: str
    detail: str


class Opened(NamedTuple):
    """An event as it came, and what it turned out to be."""

    entry: Entry
    found: Arrival | Rejected


def is_set_aside(entry: Entry) -> bool:
    """Whether an entry is not read any more, since too many consumers were lost while they held it."""
    return entry.deliveries >= KILLS_FROM


def _rejected(entry: Entry, reason: str, detail: str) -> Rejected:
    """Names that stand in a detail are the sender's words; it is shown, so that more is masked than in the body."""
    return Rejected(entry, reason, without_high(detail))


def ingest(using: Resources, batch: Sequence[Entry], fetch: Fetch | None = None) -> list[Rejected]:
    """One batch, one transaction; what is refused is kept. Rings once if anything came in.

    `fetch` takes the place of the context's.
    """
    return _ingest(using, [opened(entry, fetch or using.context.fetch) for entry in batch])


def _ingest(using: Resources, batch: Sequence[Opened]) -> list[Rejected]:
    with using.pool.connection() as conn:
        try:
            with conn.transaction():
                fresh, rejected = _take(conn, batch, using.context.limits, using.installation_key)
        except DatabaseError as error:
            if not is_data(error):
                raise
            if len(batch) > 1:
                return [item for one in batch for item in _ingest(using, [one])]
            fresh, rejected = 0, [_refused_by_database(batch[0].entry, error)]
            with conn.transaction():
                _keep(conn, rejected, using.context.limits)
    metrics.INGESTED.labels("run").inc(fresh)
    metrics.INGESTED.labels("duplicate").inc(len(batch) - fresh - len(rejected))
    for item in rejected:
        metrics.INGESTED.labels("rejected").inc()
        metrics.REJECTED.labels(item.reason).inc()
    if fresh:
        ring(using.redis, "extraction")
    return rejected


def _refused_by_database(entry: Entry, error: DatabaseError) -> Rejected:
    return Rejected(entry, RejectReason.BAD_EVENT, f"the database refused it: {error.sqlstate}")


def opened(entry: Entry, fetch: Fetch) -> Opened:
    """Call outside a transaction: `fetch` may wait on a network."""
    try:
        return Opened(entry, _receive(entry, fetch))
    except EventError as error:
        return Opened(entry, _rejected(entry, error.reason, str(error)))


def _receive(entry: Entry, fetch: Fetch) -> Arrival:
    if is_set_aside(entry):
        raise EventError(RejectReason.KILLS_WORKER, f"{entry.deliveries - 1} consumers were lost while they held it")
    return receive(entry.data, fetch)


def _take(conn: Connection, batch: Sequence[Opened], limits: Limits, key: bytes) -> tuple[int, list[Rejected]]:
    rejected = [found for _, found in batch if isinstance(found, Rejected)]
    arrived = [(entry, found) for entry, found in batch if isinstance(found, Arrival)]
    by_name = {org.name: org for org in store.orgs(conn, names=list({a.event.org for _, a in arrived}))}
    arrived = _not_erased(conn, arrived, by_name, key)
    refusals = [(item, _refusal(item, by_name)) for item in arrived]
    known = [item for item, refusal in refusals if refusal is None]
    rejected.extend(refusal for _, refusal in refusals if refusal is not None)
    fresh, conflicts = _insert(conn, known, by_name, limits)
    rejected.extend(conflicts)
    _keep(conn, rejected, limits)
    return fresh, rejected


def _refusal(item: tuple[Entry, Arrival], by_name: dict[str, Org]) -> Rejected | None:
    entry, arrival = item
    org = by_name.get(arrival.event.org)
    if org is None:
        return _rejected(entry, RejectReason.UNKNOWN_ORG, f"no org named {arrival.event.org!r}")
    unknown = sorted(set(arrival.event.spaces) - org.spaces)
    if unknown:
        detail = f"org {org.name!r} has no space named {', '.join(unknown)}"
        return _rejected(entry, RejectReason.UNKNOWN_SPACE, detail)
    return None


def _not_erased(
    conn: Connection, arrived: Sequence[tuple[Entry, Arrival]], by_name: dict[str, Org], key: bytes
) -> list[tuple[Entry, Arrival]]:
    """What an erasure covers is not taken in again, nor kept as rejected: events of an erased run, and those of before
    it that name whom it erased. Who is named in texts alone is found at redaction.
    """
    known = [item for item in arrived if item[1].event.org in by_name]
    kept = [item for item in arrived if item[1].event.org not in by_name]
    if not known:
        return kept
    keyrings = {org.name: Keyring(key, org.id) for org in by_name.values()}
    pairs = [(keyrings[arrival.event.org], arrival) for _, arrival in known]
    keys = [(keyring.org_id, keyring.event(_key(by_name[a.event.org], a))) for keyring, a in pairs]
    gone = store.existing(conn, keys)
    named = [[(keyring, name) for name in event_names(run_metadata(a.event))] for keyring, a in pairs]
    forgotten = erased_events(conn, [one for names in named for one in names])
    for item, own_key, names in zip(known, keys, named, strict=True):
        hashes = {(keyring.org_id, keyring.name(name)) for keyring, name in names}
        covers = [who for who in hashes if any(at > item[1].event.ended_at for at in forgotten.get(who, ()))]
        for org_id, hash in covers:
            ledger.record(conn, org_id=org_id, subject=("subject", hash.hex()), actor="ingest",
                          action="event_erased")  # fmt: skip
            metrics.ERASED_LATE.labels("event").inc()
        if not covers and own_key not in gone:
            kept.append(item)
    return kept


def _insert(
    conn: Connection, known: Sequence[tuple[Entry, Arrival]], by_name: dict[str, Org], limits: Limits
) -> tuple[int, list[Rejected]]:
    """Insert what is new; the same key with other content is a conflict, with the same content a duplicate."""
    earlier = store.earlier(conn, [(by_name[a.event.org].id, a.event.session) for _, a in known])
    rows: dict[tuple[int, str], NewRun] = {}
    for _, arrival in known:
        org = by_name[arrival.event.org]
        covered = earlier.setdefault((org.id, arrival.event.session), [])
        run = _new_run(org, arrival, covered)
        rows.setdefault((org.id, run.event_key), run)
        if run.event["kept"] and arrival.event.kind is EventKind.SESSION:
            covered.append((len(arrival.transcript.turns), arrival.content_hash))
    fresh = store.insert(conn, list(rows.values()), transcript_days=limits.transcript_days)
    standing = store.existing(conn, list(rows))
    conflicts = [
        Rejected(entry, RejectReason.KEY_CONFLICT, f"run {standing[key][0]} has this key with other content")
        for entry, arrival in known
        if standing[key := (by_name[arrival.event.org].id, _key(by_name[arrival.event.org], arrival))][1]
        != arrival.content_hash
    ]
    for run in rows.values():
        if run.id in fresh:
            for cls, count in run.masks.get("classes", {}).items():
                metrics.SCRUBBED.labels(cls).inc(count)
    return len(fresh), conflicts


def _key(org: Org, arrival: Arrival) -> str:
    """What an org keeps nothing of must not stand in the way of the same event sent again later."""
    return arrival.key if is_kept(arrival.event, org.settings.extraction) else f"not kept:{arrival.key}"


def _new_run(org: Org, arrival: Arrival, covered: list[tuple[int, bytes]]) -> NewRun:
    event, transcript = arrival.event, arrival.transcript
    kept = is_kept(event, org.settings.extraction)
    return NewRun(
        id=uuid7(), org_id=org.id, kind=event.kind, event_key=_key(org, arrival),
        content_hash=arrival.content_hash, session=event.session, agent=event.agent, project=event.project,
        user_id=event.user, event=run_metadata(event) | {"kept": kept}, ended_at=event.ended_at,
        turns=len(transcript.turns), first_own=first_own_turn(transcript, covered), actor="ingest",
        body=pack(transcript) if kept else None, masks=arrival.mask_detail(),
    )  # fmt: skip


def _keep(conn: Connection, rejected: Sequence[Rejected], limits: Limits) -> None:
    for item in rejected:
        store.reject(
            conn, id=uuid7(), entry_id=item.entry.id, reason=item.reason, detail=item.detail,
            body=_scrubbed_copy(item), deliveries=item.entry.deliveries, days=limits.rejected_days,
        )  # fmt: skip


def _scrubbed_copy(item: Rejected) -> bytes:
    if item.reason == RejectReason.KILLS_WORKER:
        # Whatever killed five consumers may be the scrub itself; the entry stays in the stream under its id.
        return b""
    return deflate(kept_copy(item.entry.data))


def try_again(
    conn: Connection, rows: Sequence[tuple[UUID, Opened]], limits: Limits, key: bytes
) -> list[tuple[UUID, Rejected | None]]:
    """Try kept originals again, one by one; what is still refused keeps its row with today's reason."""
    return [(id_, _try_one(conn, *one, limits, key)) for id_, one in rows]


def _try_one(conn: Connection, entry: Entry, found: Arrival | Rejected, limits: Limits, key: bytes) -> Rejected | None:
    if isinstance(found, Rejected):
        return found
    try:
        with conn.transaction():
            by_name = {org.name: org for org in store.orgs(conn, names=[found.event.org])}
            left = _not_erased(conn, [(entry, found)], by_name, key)
            refusal = _refusal((entry, found), by_name) if left else None
            if refusal is None:
                _, conflicts = _insert(conn, left, by_name, limits)
                refusal = conflicts[0] if conflicts else None
            return refusal
    except DatabaseError as error:
        if not is_data(error):
            raise
        return _refused_by_database(entry, error)
