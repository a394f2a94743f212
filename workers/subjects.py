"""What redaction's commit does about people: notes under keyed hashes whom its runs name, and gives way to erasures and
holds.

Names come from the event, from spans the detectors found in candidates, from subjects, and, since the whole transcript
is kept, from the detectors of addresses and numbers over the transcript: 34 MB/s on one core, 3 ms for 100 kB. NER does
not read transcripts, which are a hundred times its candidates. A name that stands in a transcript alone is found by
searching it when it is asked for: 100 MB/s by name, 2 MB/s where a register knows its hash alone.

Failure handling: an erasure marked while a run was in work is seen in its commit, which then keeps nothing of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from uuid import UUID

import structlog

from db import extraction as transcripts
from db import subjects as store
from db.connect import Connection
from db.runs import Claimed
from db.subjects import Covering
from pipeline.redaction.classes import EMAIL, PHONE
from pipeline.redaction.redactor import Inspector
from pipeline.redaction.span import Detector
from pipeline.subjects import Keyring, Name, event_names, names_in, sought_again, texts_in, texts_in_json
from pipeline.transcripts import inflate, unpack
from workers import metrics

log = structlog.get_logger()


@dataclass(frozen=True)
class Named:
    """Whom a run names as a whole, and each memory of it; `texts` is what was looked at besides the transcript."""

    keyring: Keyring
    run: frozenset[Name] = frozenset()
    memories: dict[UUID, frozenset[Name]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()


def in_transcript(body: bytes | None, detectors: Sequence[Detector]) -> frozenset[Name]:
    """Whom the pattern detectors find in a run's packed transcript, if one is kept. Raises DetectorDown.

    Its turns are read as one text: one scan in place of one a turn.
    """
    if body is None:
        return frozenset()
    patterns = [d for d in detectors if d.classes <= {EMAIL, PHONE}]
    return names_in(Inspector(patterns), ["\n\n".join(turn.text for turn in unpack(body).turns)])


def named(run: Claimed, inspect: Inspector, texts: Iterable[str], subjects: Iterable[Name]) -> frozenset[Name]:
    """Whom an event, these texts and these subjects name."""
    user = {"user": run.user_id} if run.user_id else {}
    return event_names(run.event | user) | names_in(inspect, texts) | frozenset(subjects)


def settle(conn: Connection, done: Sequence[tuple[Claimed, Named]]) -> set[UUID]:
    """Inside the commit, before anything is written: which of these runs an erasure covers. Those keep nothing."""
    covering = store.covering(conn, (run.org_id for run, _ in done), [run.id for run, _ in done])
    if not covering:
        return set()
    by_run: dict[UUID, list[Covering]] = {}
    for item in covering:
        by_run.setdefault(item.run_id, []).append(item)
    hits = [(run, item) for run, seen in done for item in _hits(conn, run, seen, by_run.get(run.id, []))]
    held = {run.id for run, item in hits if item.holds}
    store.hold(conn, ((run.org_id, item) for run, item in hits if item.holds))
    erased = {run.id for run, item in hits if not item.holds} - held
    for run, seen in done:
        if run.id in erased:
            store.erase_run(conn, seen.keyring, run.id)
            metrics.ERASED_LATE.labels("run").inc()
            log.info("erased_late", run=str(run.id))
    return erased


def _hits(conn: Connection, run: Claimed, seen: Named, covering: Sequence[Covering]) -> Iterator[Covering]:
    if not covering:
        return
    keyring = seen.keyring
    hashes = {keyring.name(name) for name in chain(seen.run, *seen.memories.values())}
    texts: list[str] | None = None
    for item in covering:
        if item.hash in hashes:
            yield item
        elif item.needles:
            texts = texts if texts is not None else list(_texts(conn, run, seen))
            if sought_again(keyring, item.hash, item.needles).stands_in(texts):
                yield item


def _texts(conn: Connection, run: Claimed, seen: Named) -> Iterator[str]:
    own: list[Any] = [run.event, run.session, run.agent, run.project, run.user_id]
    yield from texts_in(own)
    yield from seen.texts
    for body in transcripts.transcripts(conn, [run.id]).values():
        yield from texts_in_json(inflate(body))


def record(conn: Connection, done: Sequence[tuple[Claimed, Named]]) -> None:
    """Once memories are written."""
    store.record(conn, (
        (seen.keyring, run.id, memory, names)
        for run, seen in done
        for memory, names in ((None, seen.run), *seen.memories.items())
    ))  # fmt: skip
