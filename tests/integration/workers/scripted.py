"""A stage whose outcomes a test writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from db import extraction as store
from db.connect import Connection
from db.runs import Claimed
from pipeline.outcome import Done, Outcome
from pipeline.states import RunState
from workers.context import Resources
from workers.stage import Worked, one_group

Script = Callable[[Claimed], Outcome[Any] | None]


class Scripted:
    """Stands in for extraction. None is Done with an envelope; an output that is an int is the org it is staged for."""

    name = "extraction"
    takes = RunState.RECEIVED
    gives = RunState.EXTRACTED
    rings = "redaction"

    def __init__(self, script: Script) -> None:
        self._script = script

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[Any]]:
        yield from one_group((run, self._script(run) or Done(run.org_id)) for run in claimed)

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, Any]]) -> None:
        if any(isinstance(output, Exception) for _, output in done):
            raise next(output for _, output in done if isinstance(output, Exception))
        store.stage_envelopes(conn, {run.id: (org, {"candidates": [], "provenance": {}}) for run, org in done})
