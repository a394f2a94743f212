"""afterword repair: what stands crooked, and what is put right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import typer

from db import embedding, events, housekeeping, ledger, replays
from db import repair as store
from db.connect import Connection
from db.events import Org
from db.replays import Selector
from ops.access import acting_as, actor, ring_bell
from ops.output import AsJson, document, rows
from ops.settings import load
from pipeline.intake import MAX_KEPT_BYTES, RejectReason
from pipeline.transcripts import inflate

Fate = Literal["well", "heals", "would mend", "mended", "broken"]
COLUMNS = ("what", "found", "fate", "detail")
REPLAY_RATE = 5.0
REPLAY_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: how many stand crooked and what became of them."""

    what: str
    found: int
    fate: Fate
    detail: str = ""


def repair(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be done; do nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for what stands crooked and put it right; harmless when repeated. Exit code 1 when something is broken.

    Example: afterword repair --dry-run
    """
    with acting_as("operator") as conn:
        findings = [finding for look in LOOKS for finding in look(conn, dry_run)]
        mended = {finding.what: finding.found for finding in findings if finding.fate == "mended"}
        if mended:
            ledger.record(conn, org_id=None, subject=("installation", "repair"), actor=actor(), action="repaired",
                          detail=mended)  # fmt: skip
    if as_json:
        document([asdict(finding) for finding in findings])
    else:
        rows([asdict(finding) for finding in findings], COLUMNS, as_json=False, none="")
    if any(finding.fate == "broken" for finding in findings):
        raise typer.Exit(1)


def _leases(conn: Connection, _: bool) -> Iterator[Finding]:
    found = store.stuck_leases(conn)
    detail = "their worker was lost; the next claim of the stage takes them" if found else ""
    yield Finding("stuck leases", found, "heals" if found else "well", detail)


def _bells(conn: Connection, dry_run: bool) -> Iterator[Finding]:
    from workers.housekeeping import RING_AFTER_SECONDS, STAGES  # here, since it brings the metrics

    waiting = housekeeping.oldest_due(conn)
    silent = sorted(STAGES[state] for state, seconds in waiting.items() if seconds > RING_AFTER_SECONDS)
    if not silent or dry_run:
        yield Finding("silent bells", len(silent), "would mend" if silent else "well", ", ".join(silent))
        return
    deaf = [stage for stage in silent if not ring_bell(stage, past_marker=True)]
    if deaf:
        yield Finding("silent bells", len(silent), "broken", f"Redis does not answer; not rung: {', '.join(deaf)}")
    else:
        yield Finding("silent bells", len(silent), "mended", f"rang {', '.join(silent)}")


def _missing_runs(conn: Connection, dry_run: bool) -> Iterator[Finding]:
    """Active memories that no run takes to their vector, and approvals that no run carries onward."""
    lost = store.lost_approvals(conn)
    current = embedding.current_stamp(conn)
    if current is None:
        yield Finding("missing embeddings", 0, "well", "no embedding space is registered (afterword embed register)")
    elif load().embedder == "none" and not lost:  # a run for each would pass on without a vector, and be missing again
        yield Finding("missing embeddings", 0, "well", "not looked for: AFTERWORD_EMBEDDER is none")
    else:
        opened = store.open_missing_runs(conn, current[0], dry_run=dry_run)
        if opened and not dry_run:
            ring_bell("embedding")
        mended: Fate = "would mend" if dry_run else "mended"
        detail = f"{'would open' if dry_run else 'opened'} {opened} runs" if opened else ""
        yield Finding("missing embeddings", opened, mended if opened else "well", detail)
    left = lost if dry_run else store.lost_approvals(conn)
    yield _approvals(len(lost), [str(id) for id in left], dry_run)


def _approvals(found: int, left: list[str], dry_run: bool) -> Finding:
    if not found:
        return Finding("approvals without a run", 0, "well")
    if dry_run:
        return Finding("approvals without a run", found, "would mend", ", ".join(left[:3]))
    if left:
        detail = f"approve again: {', '.join(left[:3])} (afterword review approve)"
        return Finding("approvals without a run", found, "broken", detail)
    return Finding("approvals without a run", found, "mended")


def _rejects(conn: Connection, dry_run: bool) -> Iterator[Finding]:
    """Rejected for an org or space that exists by now: tried again by a replay."""
    passing = [reason for reason, body in store.unknown_names(conn) if _would_pass(conn, body)]
    asked_already = store.open_rejected_replays(conn)
    for reason in (RejectReason.UNKNOWN_ORG, RejectReason.UNKNOWN_SPACE):
        found = passing.count(reason)
        what = f"rejected for {reason}, which exists now"
        if not found:
            yield Finding(what, 0, "well")
        elif reason in asked_already:
            yield Finding(what, found, "heals", "a replay of them is under way")
        elif dry_run:
            yield Finding(what, found, "would mend", f"would ask for a replay of {reason}")
        else:
            asked = replays.request(
                conn, Selector(rejected=reason), actor=actor(), reason="repair: the name exists now", rate=REPLAY_RATE,
                cap=REPLAY_CAP, force=False,
            )  # fmt: skip
            yield Finding(what, found, "mended", f"replay {asked} is requested")


def _would_pass(conn: Connection, body: bytes) -> bool:
    try:
        event = json.loads(inflate(body, MAX_KEPT_BYTES))
    except ValueError:  # a mask may have cut through its JSON
        return False
    found: list[Org] = events.orgs(conn, names=[event["org"]])
    return bool(found) and set(event.get("spaces") or ()) <= found[0].spaces


def _pending(conn: Connection, _: bool) -> Iterator[Finding]:
    found = store.unheld_pending(conn)
    detail = ", ".join(str(id) for id in found[:3])
    yield Finding("pending without an open review", len(found), "broken" if found else "well", detail)


LOOKS = (_leases, _bells, _missing_runs, _rejects, _pending)
