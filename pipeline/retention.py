"""The retention registry: every table that holds content, why it holds it, how long, and how a person's part is found
and erased. A test reads the catalogue of a migrated database: a column of text, JSON or bytes that stands neither here
nor in CONTENT_FREE fails it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pipeline.errors import AfterwordError

DAYS_MIN: Final = 30
"""An org keeps at least so long, or there is no evidence when somebody asks; what must go sooner is erased by name."""
DAYS_MAX: Final = 3_650
GRACE: Final = timedelta(days=7)
"""An expired memory is recalled no more at once, and emptied so much later: a mistyped setting is noticed by then."""


class RetentionRefused(AfterwordError):
    """No org may keep this class of data for so long."""


@dataclass(frozen=True, slots=True)
class Holding:
    """One class of data in one table.

    `keeps`: None where nothing but erasure ends it, which `purpose` must justify. `dated`: the column that says until
    when. `org`: None where a row belongs to no org. `subject`: how a row leads to whom it is about. `eraser`: the store
    as `db/erasure.py` and a receipt name it. `columns`: those that hold content.
    """

    name: str
    table: str
    purpose: str
    keeps: timedelta | None
    dated: str | None
    org: str | None
    subject: str
    eraser: str
    columns: tuple[str, ...]
    kind: str | None = None


_YEAR = timedelta(days=365)
_MEMORY = ("content", "content_hash", "previous_hash", "rationale", "evidence", "lexemes", "subject_type", "subject_id",
           "scope_value", "author")  # fmt: skip
_NAMED = "its subject, author or scope; run_subjects; what its text says"
_RUN = "run_subjects; the event's user and participants; what its text says"


def _memories(name: str, kind: str, purpose: str, keeps: timedelta) -> Holding:
    return Holding(name, "memories", purpose, keeps, "expires_at", "org_id", _NAMED, "memories", _MEMORY, kind)


REGISTRY: tuple[Holding, ...] = (
    _memories("facts", "fact", "what later sessions may know", timedelta(days=90)),
    _memories("preferences", "preference", "how a user wants to be served", _YEAR),
    _memories("rules", "rule", "what a person approved as binding; reviewed anew every year", _YEAR),
    _memories("turns", "turn", "what was said in a session, searchable", timedelta(days=30)),
    Holding("embeddings", "embeddings", "search by meaning; goes with its memory", None, None, "org_id",
            "its memory", "embeddings", ("vector",)),
    Holding("runs", "runs", "who sent what when: the record that a session was taken in once", None, None, "org_id",
            _RUN, "runs", ("event_key", "content_hash", "session", "agent", "project", "user_id", "event",
                           "error_detail")),
    Holding("transcripts", "transcripts", "evidence for reviewers, and another extraction", timedelta(days=30),
            "purge_after", "org_id", _RUN, "transcripts", ("body",)),
    Holding("envelopes", "envelopes", "candidates on their way to redaction, whose commit deletes them", None, None,
            "org_id", _RUN, "envelopes", ("body",)),
    Holding("drops", "drops", "what was kept out, so that keeping it out can be judged", timedelta(days=90),
            "expires_at", "org_id", "its subject, author or scope; its run; what its text says", "drops",
            ("content", "rationale", "evidence", "subject_type", "subject_id", "scope_value", "author")),
    Holding("payloads", "payloads", "the texts that a ledger entry stands for; goes with its memory", None, None,
            "org_id", "the entry's memory or run; what its text says", "payloads", ("content", "key")),
    Holding("reviews", "reviews", "why a person decided so; goes with its memory", None, None, "org_id",
            "its memory; what its text says", "reviews", ("comment",)),
    Holding("outcomes", "outcomes", "what became of what was proposed: food for mining, never for a prompt",
            timedelta(days=30), "expires_at", "org_id", "its memory; what its text says", "outcomes",
            ("comment", "eval_run", "agent", "workflow")),
    Holding("rejected_events", "rejected_events", "what could not become a run, until it is fixed", timedelta(days=14),
            "purge_after", None, "what its text says", "rejected_events", ("detail", "body")),
    Holding("recalls", "recalls", "what a model was shown, by ids and scores", _YEAR, "at", "org_id", "its memories",
            "recalls", ()),
    Holding("tokens", "tokens", "who may come in by a door; so long after it expired", timedelta(days=1), "expires_at",
            "org_id", "its user", "tokens", ("user_id",)),
    Holding("run_subjects", "run_subjects", "finds again whom a run names; goes with what it leads to",
            None, None, "org_id", "its hash; a trigger takes it away with its transcript or memory", "run_subjects",
            ("hash",)),
    Holding("erasures", "erasures", "erases again after a backup is restored, and what arrives late",
            None, None, "org_id", "its hash", "kept: it is the erasure", ("hash", "needles")),
    Holding("legal_holds", "legal_holds", "keeps what a court or an authority asked to be kept", None, None,
            "org_id", "its hash", "kept: a hold is released, never erased", ("hash", "needles")),
)  # fmt: skip

CONTENT_FREE: dict[str, frozenset[str]] = {
    "calibrations": frozenset({"side", "source"}),
    "erasures": frozenset({"actor", "reason", "erased", "kept"}),
    "held_rows": frozenset({"store"}),
    "installation": frozenset({"key_check"}),
    "legal_holds": frozenset({"actor", "reason", "released_by", "release_reason"}),
    "drops": frozenset({"rule", "kind", "scope_kind", "author_kind", "classes", "provenance", "restored_by",
                        "detectors"}),
    "ledger": frozenset({"subject_kind", "subject_id", "actor", "action", "detail", "payload_hash", "hash"}),
    "memories": frozenset({"tier", "kind", "status", "namespace", "scope_kind", "classes", "hold_reasons",
                           "author_kind", "provenance", "actor", "reason", "detectors"}),
    "memory_moves": frozenset({"from_status", "to_status"}),
    "model_calls": frozenset({"purpose", "provider", "model", "answered_by", "endpoint_class", "prompt_revision",
                              "outcome"}),
    "migrations": frozenset({"name", "checksum"}),
    "namespaces": frozenset({"name", "scope_kind", "scope_value", "path", "title", "description", "preamble",
                             "agents"}),
    "occurrences": frozenset({"similarity", "undone_by"}),
    "orgs": frozenset({"name", "settings", "actor", "reason"}),
    "transcripts": frozenset({"detectors"}),
    "outcomes": frozenset({"kind", "verdict", "namespace", "actor"}),
    "pass_cursors": frozenset({"pass"}),
    "payloads": frozenset({"detectors"}),
    "reclassifications": frozenset({"kind", "actor", "reason", "status", "store", "after", "counts", "detectors",
                                    "plan_digest", "planned_by", "confirmed_digest"}),
    "reclassified": frozenset({"status", "move", "classes_before", "classes", "reasons_before", "reasons"}),
    "recalls": frozenset({"actor", "agent", "project", "mode", "request", "hits", "passed_over", "excluded",
                          "block_hash"}),
    "rejected_events": frozenset({"entry_id", "reason"}),
    "replayed_runs": frozenset({"code"}),
    "replays": frozenset({"selector", "actor", "reason", "status"}),
    "retention_defaults": frozenset({"name"}),
    "reviews": frozenset({"kind", "reasons", "decision", "decided_by"}),
    "run_entries": frozenset({"kind", "state"}),
    "run_moves": frozenset({"from_state", "to_state"}),
    "runs": frozenset({"kind", "state", "died_in", "error_code", "skip_reason", "actor", "reason"}),
    "seals": frozenset({"hash"}),
    "spaces": frozenset({"name", "tier"}),
    "stamps": frozenset({"provider", "model", "revision"}),
    "tokens": frozenset({"hash", "role", "actor", "agent", "project", "workflow", "agent_role", "tiers"}),
}  # fmt: skip
"""Columns of text, JSON or bytes that say nothing of what was said: words of closed lists, hashes under no guessable
text, ids, and what operators name and write (their own names as actors stay: who decided must be answerable)."""

BY_ORG: Final = ("facts", "preferences", "rules", "turns", "transcripts", "drops", "recalls", "outcomes")
"""The classes an org may keep for longer or shorter than by default; `rules` is the time between two reviews."""


def default_days(name: str) -> int:
    """Days the registry keeps a class that has an end."""
    keeps = next(item.keeps for item in REGISTRY if item.name == name)
    assert keeps is not None
    return keeps.days


def kept_days(kind: str, by_org: Mapping[str, int]) -> int:
    """Days a memory of a kind is kept by an org with these settings of its own."""
    name = f"{kind}s"
    return by_org.get(name, default_days(name))


def checked(by_org: Mapping[str, int]) -> dict[str, int]:
    """An org's own days by class. Raises RetentionRefused for what no org may have."""
    if unknown := sorted(by_org.keys() - set(BY_ORG)):
        raise RetentionRefused(f"retention has no class {', '.join(unknown)}; an org may set {', '.join(BY_ORG)}")
    for name, days in by_org.items():
        if days < DAYS_MIN:
            raise RetentionRefused(
                f"retention {name}={days} is below the floor of {DAYS_MIN} days; what must go sooner is erased, by "
                "name and on record: afterword dsar forget"
            )
        if days > DAYS_MAX:
            raise RetentionRefused(f"retention {name}={days} is above {DAYS_MAX} days, ten years")
    return dict(by_org)
