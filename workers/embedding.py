"""redacted -> embedded: active memories get a vector of the current stamp, texts of all runs in one call.

Failure handling: a worker whose embedder is not that of the current space puts its runs off, spending no attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from db import embedding as store
from db.connect import Connection
from db.embedding import Unembedded
from db.runs import Claimed
from pipeline.embedding.port import Embedder, Vectors
from pipeline.errors import EmbedderUnset, ModelRefused, ModelUnavailable, SettingError
from pipeline.outcome import Bury, Done, ErrorCode, Outcome, Retry, Snooze
from pipeline.states import RunState
from workers import metrics
from workers.context import Resources
from workers.stage import Worked, one_group


@dataclass(frozen=True)
class Embedded:
    """A run's vectors, one row a memory, in the space of `stamp`; none under the stated choice `none`."""

    stamp: int | None
    memories: list[Unembedded]
    vectors: Vectors


ASK_AGAIN = timedelta(seconds=30)
"""A worker that embeds for a space that is not the current one leaves its runs to one that does, started meanwhile."""

_NOTHING = Embedded(None, [], np.empty((0, 0), np.float32))


class Embedding:
    name = "embedding"
    takes = RunState.REDACTED
    gives = RunState.EMBEDDED
    rings = "consolidation"

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[Embedded]]:
        try:
            embedder = using.embedder
        except EmbedderUnset as error:
            refused = Retry(ErrorCode.EMBEDDER_UNSET, str(error))
            yield [(run, refused) for run in claimed]
            return
        if embedder is None:
            metrics.UNEMBEDDED.inc(len(claimed))
            yield [(run, Done(_NOTHING)) for run in claimed]
            return
        with using.pool.connection() as conn:
            stamp = store.stamp_id(conn, embedder.stamp)
            if stamp is None:
                raise SettingError(f"{embedder.stamp} is not registered; run: afterword embed register")
            current = store.current_stamp(conn)
            if current is not None and current[0] != stamp:
                elsewhere = Snooze(datetime.now(UTC) + ASK_AGAIN, "embedder_not_current")
                yield [(run, elsewhere) for run in claimed]
                return
            missing = store.missing(conn, stamp, [run.id for run in claimed])
        yield from one_group(_outcomes(embedder, stamp, claimed, missing))

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, Embedded]]) -> None:
        filled = [out for _, out in done if out.memories]
        if filled and filled[0].stamp is not None:
            memories = [memory.id for out in filled for memory in out.memories]
            store.insert(conn, filled[0].stamp, memories, np.concatenate([out.vectors for out in filled]))


def _outcomes(
    embedder: Embedder, stamp: int, claimed: Sequence[Claimed], missing: list[Unembedded]
) -> Iterator[tuple[Claimed, Outcome[Embedded]]]:
    waiting = [run for run in claimed if any(memory.run_id == run.id for memory in missing)]
    yield from ((run, Done(_NOTHING)) for run in claimed if run not in waiting)
    if not waiting:
        return
    try:
        vectors = embedder.passages([memory.content for memory in missing])
    except ModelUnavailable as error:
        yield from (
            (run, Retry(ErrorCode.EMBEDDER_UNAVAILABLE, str(error), error.retry_after_seconds)) for run in waiting
        )
        return
    except ModelRefused as error:
        if len(waiting) > 1:  # one text may be what is refused: the runner asks again, run by run
            raise
        yield from ((run, Bury(ErrorCode.EMBEDDER_UNAVAILABLE, str(error))) for run in waiting)
        return
    for run in waiting:
        rows = [i for i, memory in enumerate(missing) if memory.run_id == run.id]
        yield run, Done(Embedded(stamp, [missing[i] for i in rows], vectors[rows]))
