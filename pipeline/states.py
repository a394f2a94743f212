"""The run and memory state machines: every state, every legal move, a reason on each edge.

    stream --> received --> extracted --> redacted --> embedded --> consolidated
                  |             |             |            |
                  +--> skipped  +-------------+------------+--> dead_letter --replay--> the state it died in

A run's state names the last thing finished. The database holds the same tables (`run_moves`, `memory_moves`,
`run_entries`), filled by migration; a test compares them with this page.
"""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    RECEIVED = "received"
    EXTRACTED = "extracted"
    REDACTED = "redacted"
    EMBEDDED = "embedded"
    CONSOLIDATED = "consolidated"
    SKIPPED = "skipped"
    DEAD_LETTER = "dead_letter"


class RunKind(StrEnum):
    SESSION = "session"
    PROPOSAL = "proposal"
    NOTE = "note"
    VERDICT = "verdict"
    REEXTRACT = "reextract"


class MemoryStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    TOMBSTONED = "tombstoned"


R, M = RunState, MemoryStatus

RUN_MOVES: frozenset[tuple[RunState, RunState]] = frozenset(
    {
        (R.RECEIVED, R.EXTRACTED),  # an envelope is staged
        (R.RECEIVED, R.SKIPPED),  # extraction off, empty or too short, over a budget that cannot wait
        (R.RECEIVED, R.DEAD_LETTER),
        (R.EXTRACTED, R.REDACTED),  # every candidate is a memory or a drop; active ones are recallable from here
        (R.EXTRACTED, R.DEAD_LETTER),
        (R.REDACTED, R.EMBEDDED),  # active memories have a vector of the current stamp, or the embedder is `none`
        (R.REDACTED, R.DEAD_LETTER),
        (R.EMBEDDED, R.CONSOLIDATED),  # repeats counted, retirements proposed
        (R.EMBEDDED, R.DEAD_LETTER),
        (R.DEAD_LETTER, R.RECEIVED),  # replay, each to the state it died in
        (R.DEAD_LETTER, R.EXTRACTED),
        (R.DEAD_LETTER, R.REDACTED),
        (R.DEAD_LETTER, R.EMBEDDED),
    }
)

RUN_ENTRIES: frozenset[tuple[RunKind, RunState]] = frozenset(
    {
        (RunKind.SESSION, R.RECEIVED),
        (RunKind.PROPOSAL, R.RECEIVED),  # skips the model there: its text is turn 0
        (RunKind.PROPOSAL, R.EXTRACTED),  # recorded by a person or a pass, with its envelope
        (RunKind.NOTE, R.RECEIVED),
        (RunKind.VERDICT, R.EXTRACTED),  # an edited or corrected text passes detection like any other
        (RunKind.VERDICT, R.REDACTED),  # an approval unchanged only needs its vector
        (RunKind.REEXTRACT, R.RECEIVED),
    }
)

MEMORY_MOVES: frozenset[tuple[MemoryStatus, MemoryStatus]] = frozenset(
    {
        (M.PENDING, M.ACTIVE),  # approve; or released, once the detector it waited for is back
        (M.PENDING, M.REJECTED),  # reject, with a reason
        (M.PENDING, M.SUPERSEDED),  # correct before approval; or the same as another of its run, once HIGH is masked
        (M.PENDING, M.TOMBSTONED),  # forget before approval
        (M.ACTIVE, M.SUPERSEDED),  # correct, a newer memory approved in its place, or a rescan's successor that waits
        (M.ACTIVE, M.TOMBSTONED),  # forget
    }
)

WORKED: tuple[RunState, ...] = (R.RECEIVED, R.EXTRACTED, R.REDACTED, R.EMBEDDED)
"""The states in which a stage has something to do, in pipeline order."""
