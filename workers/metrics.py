"""Every metric, declared once with its meaning; labels come from closed lists. Code counts, this file words.

Counters and histograms are each worker's own; gauges come from housekeeping alone, which reads them from Postgres.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

STAGE_OUTCOMES = Counter("afterword_stage_outcomes", "Runs by stage and what became of them", ["stage", "outcome"])
STAGE_SECONDS = Histogram("afterword_stage_seconds", "Seconds a batch took, from claim to commit", ["stage"])
STAGE_BATCH = Histogram(
    "afterword_stage_batch_runs", "Runs claimed together", ["stage"], buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256)
)
BELLS = Counter("afterword_bells", "Bells rung, by stage and whether one was queued already", ["stage", "result"])
REFUSED_JOBS = Counter("afterword_refused_jobs", "Jobs in rq:* that were not bells", ["stage"])
LOST_LEASES = Counter("afterword_lost_leases", "Runs claimed whose last worker never came back", ["stage"])
INGESTED = Counter("afterword_ingested_events", "Stream entries by result", ["result"])
REJECTED = Counter("afterword_rejected_events", "Events that could not become runs", ["reason"])
SCRUBBED = Counter("afterword_scrubbed_masks", "Proven secrets and numbers masked before storage", ["cls"])
CANDIDATES = Counter("afterword_candidates", "Candidates proposed", ["provider"])
ENVELOPES = Counter("afterword_envelopes", "Envelopes proposed, empty ones included", ["provider"])
ZERO_YIELD = Counter("afterword_zero_yield", "Runs whose envelope was empty", ["provider"])
MODEL_CALLS = Counter("afterword_model_calls", "Calls of models by what became of them", ["provider", "outcome"])
MODEL_TOKENS = Counter("afterword_model_tokens", "Tokens of answered calls", ["provider", "direction"])
MODEL_USD = Counter("afterword_model_usd", "US dollars of answered calls whose price is known", ["provider"])
UNPRICED_CALLS = Counter("afterword_unpriced_calls", "Answered calls whose price is not known", ["provider"])
MODEL_CIRCUITS = Gauge(
    "afterword_model_circuits",
    "Worker processes by the state of their circuit to a model: open is left alone, half_open is being asked once",
    ["provider", "state"],
    multiprocess_mode="livesum",
)
GATE_DECISIONS = Counter("afterword_gate_decisions", "Memories by what the gate decided", ["decision"])
HOLDS = Counter("afterword_holds", "Holds by reason; one memory may have several", ["reason"])
DROPS = Counter("afterword_drops", "Candidates kept out by rule, each with its record", ["rule"])
UNEMBEDDED = Counter("afterword_unembedded", "Runs passed on without vectors, since the embedder is none")
CONTRIBUTIONS = Counter("afterword_contributions", "New memories by what consolidation made of them", ["result"])
ADVICE = Counter("afterword_contribute_advice", "Doubtful contributions by what the model made of them", ["answer"])
PASS_ANSWERS = Counter("afterword_pass_answers", "Questions of passes by what the answer was", ["pass_name", "answer"])
PASS_PROPOSALS = Counter("afterword_pass_proposals", "What answers held, by what became of it", ["pass_name", "result"])
REPLAYED = Counter("afterword_replayed_runs", "Runs re-armed by replays")
RECLASSIFIED = Counter("afterword_reclassified_memories", "Memories looked at again, by what became of them", ["move"])
SEALED = Counter("afterword_sealed_entries", "Ledger entries sealed")
ERASED_LATE = Counter("afterword_erased_late", "What came in after an erasure that covers it, by kind", ["kind"])
PURGED = Counter("afterword_purged_rows", "Rows purged past their date, and reviews of rules opened", ["store"])
REQUESTS = Counter("afterword_requests", "Requests at the HTTP door, by the route's pattern", ["route", "status"])
REQUEST_SECONDS = Histogram("afterword_request_seconds", "Seconds until a request was answered", ["route"])
SPOOLED = Gauge(
    "afterword_spooled_events", "Events a gateway has taken that are not known to be runs", multiprocess_mode="livesum"
)

# Gauges of each process that detects: the worst of those alive. Labels are those of the detectors and canaries it has.
DETECTOR_UP = Gauge(
    "afterword_detector_up",
    "Whether a detector finds something of every class it claims",
    ["detector"],
    multiprocess_mode="livemin",
)
CANARY_FOUND = Gauge(
    "afterword_canary_found",
    "Whether every canary of a class and language is found, by some detector that claims the class",
    ["cls", "language"],
    multiprocess_mode="livemin",
)

# Gauges, set by housekeeping.
PURGE_OVERDUE = Gauge(
    "afterword_purge_overdue_seconds", "For how long the oldest row past its date has been due", ["store"],
    multiprocess_mode="mostrecent",
)  # fmt: skip
RUNS = Gauge("afterword_runs", "Runs by state", ["state"], multiprocess_mode="mostrecent")
OLDEST_DUE = Gauge(
    "afterword_oldest_due_seconds", "Age of the oldest due run", ["stage"], multiprocess_mode="mostrecent"
)
DEAD_LETTERS = Gauge("afterword_dead_letters", "Dead letters by code", ["code"], multiprocess_mode="mostrecent")
OPEN_REVIEWS = Gauge(
    "afterword_open_reviews", "Open reviews by kind and age", ["kind", "age"], multiprocess_mode="mostrecent"
)
SAMPLE_ANSWERS = Gauge(
    "afterword_sample_answers", "Answered samples of activations (audit) and drops, by whether the gate was right",
    ["kind", "answer"], multiprocess_mode="mostrecent",
)  # fmt: skip
NOT_ADMITTED = Gauge(
    "afterword_waiting_runs", "Runs that wait for a budget, for an endpoint their org admits, for a model", ["reason"],
    multiprocess_mode="mostrecent",
)  # fmt: skip
DIGESTS_EMPTY = Gauge(
    "afterword_digests_empty", "Digests of the last hour that held no rule and no preference",
    multiprocess_mode="mostrecent",
)  # fmt: skip
OUTCOMES_LOST = Gauge(
    "afterword_outcomes_lost", "Outcomes that could not be written, since the installation was made",
    multiprocess_mode="mostrecent",
)  # fmt: skip
STAMP_EXCLUDED = Counter(
    "memory_recall_stamp_excluded_total", "Memories that a recall passed over by vector: they have none in its space"
)
MEMORIES = Gauge("afterword_memories", "Memories by status", ["status"], multiprocess_mode="mostrecent")
STREAM_LAG = Gauge("afterword_stream_lag", "Stream entries not yet acknowledged", multiprocess_mode="mostrecent")
UNSEALED = Gauge("afterword_ledger_unsealed_entries", "Ledger entries not sealed yet", multiprocess_mode="mostrecent")
HOUSEKEEPING_SUCCESS = Gauge(
    "afterword_housekeeping_last_success_timestamp_seconds",
    "When a round last succeeded",
    multiprocess_mode="mostrecent",
)


def forget_process(pid: int) -> None:
    """What a process that is gone said of itself counts no longer."""
    from prometheus_client import multiprocess

    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


def registry(multiprocess_dir: str | None) -> CollectorRegistry:
    """What /metrics shows: all processes' files when they share a folder, else this process."""
    from prometheus_client import REGISTRY, multiprocess

    if multiprocess_dir is None:
        return REGISTRY
    collected = CollectorRegistry()
    multiprocess.MultiProcessCollector(collected, path=multiprocess_dir)  # type: ignore[no-untyped-call]
    return collected
