"""What the models said, recorded: sessions with three distinct facts each, their envelopes and their vectors.

Runs, envelopes and vectors are the same for every side of the benchmark. Conversations are those of a folder of
session logs, by default ops/samples; the facts are said by the user at their end, so that the evidence check finds
them in a transcript of real length.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np

from pipeline.candidate import Candidate, Envelope, Evidence, Kind
from pipeline.embedding.port import Stamp, Vectors
from pipeline.errors import FormatError
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal
from pipeline.formats import cut_transcript, read
from pipeline.outcome import Done
from pipeline.provenance import EndpointClass, Provenance
from pipeline.redaction.scrub import scrub_transcript
from pipeline.session import Role, SessionEnded, Transcript, Trust, Turn

SAMPLES = Path(__file__).parents[2] / "ops" / "samples"
DIMENSION = 384
STAMP = Stamp("recorded", "clustered", "1", DIMENSION)
FACTS = 3
CLUSTERS = 200
LOGS_MAX = 200
CONVERSATION_BYTES_MAX = 48_000
"""Below the 64 kB over which a sender compresses, so that every event goes the same way."""

_START = datetime(2026, 3, 1, tzinfo=UTC)
_SERVICES = ("search", "gallery", "checkout", "catalogue", "ledger", "shipping", "mailing", "pricing", "identity",
             "reporting", "archive", "import", "export", "inventory", "routing", "audit")  # fmt: skip
_PARTS = ("job queue", "read replica", "nightly import", "event log", "session cache", "object store", "event bus",
          "feature table", "rate counter", "image resizer", "document index", "retry buffer")  # fmt: skip
_PLACES = ("Frankfurt", "Dublin", "Oregon", "Tokyo", "Mumbai", "Montreal", "Warsaw", "Sydney", "Osaka", "Stockholm")
_TOOLS = ("Postgres", "Kafka", "Redis", "RabbitMQ", "MinIO", "ClickHouse", "Nomad", "Consul", "Envoy", "Elixir", "Rust",
          "Kotlin")  # fmt: skip
_PROVENANCE = Provenance(provider="recorded", model="facts-1", endpoint_class=EndpointClass.LOCAL, prompt_revision="r1")
_RATIONALE = "The user said so in the session; it stands in no file of the repository."


@dataclass(frozen=True)
class Recording:
    """Events in the order they are sent, their orgs, and the vector of every fact."""

    events: list[bytes]
    orgs: list[str]
    texts: list[str]
    vectors: Vectors

    def save(self, folder: Path) -> None:
        """The part that stands in for the models, for other processes."""
        (folder / "texts.json").write_text(json.dumps(self.texts))
        np.save(folder / "vectors.npy", self.vectors)


def record(runs: int, orgs: int, logs: Path | None, *, org_runs_max: int, seed: int = 7) -> Recording:
    """`runs` sessions over `orgs` orgs whose sizes fall off as 1/rank; the same for the same arguments."""
    rng = random.Random(seed)
    conversations = list(_conversations(logs or SAMPLES))
    names = [f"org-{number:03d}" for number in range(orgs)]
    of = owners(rng, names, runs, org_runs_max)
    events, texts = [], []
    for number, org in enumerate(of):
        facts = [fact(rng, number * FACTS + place) for place in range(FACTS)]
        texts += facts
        events.append(_event(number, org, conversations[number % len(conversations)], facts))
    return Recording(events, of, texts, vectors(len(texts), seed))


def owners(rng: random.Random, names: Sequence[str], runs: int, org_runs_max: int) -> list[str]:
    """An org a run; one that has its most is passed over."""
    weights = [1 / rank for rank in range(1, len(names) + 1)]
    owners: list[str] = []
    counts: Counter[str] = Counter()
    while len(owners) < runs:
        (name,) = rng.choices(names, weights)
        if counts[name] < org_runs_max:
            counts[name] += 1
            owners.append(name)
    return owners


def _conversations(folder: Path) -> Iterator[tuple[Turn, ...]]:
    found = 0
    for path in sorted(path for path in folder.rglob("*.json*") if path.is_file()):
        try:
            transcript = read(path.read_text("utf-8", "surrogateescape")).transcript
        except (FormatError, OSError):
            continue
        if turns := _shortened(scrub_transcript(cut_transcript(transcript)[0])[0]):
            yield turns
            found += 1
        if found == LOGS_MAX:
            return
    if not found:
        raise FormatError(f"{folder} holds no session log that can be read")


def _shortened(transcript: Transcript) -> tuple[Turn, ...]:
    size, turns = 0, []
    for turn in transcript.turns:
        size += len(turn.model_dump_json())
        if size > CONVERSATION_BYTES_MAX:
            break
        turns.append(turn)
    return tuple(turns)


def fact(rng: random.Random, number: int) -> str:
    """A sentence that no rule of the classifier holds and no other number's repeats or replaces."""
    part, service, tool, place = (rng.choice(words) for words in (_PARTS, _SERVICES, _TOOLS, _PLACES))
    return (
        f"Trial {number} found that the {part} behind the {service} service wakes {tool} every "
        f"{rng.randrange(2, 600)} seconds from {place}."
    )


def _event(number: int, org: str, conversation: tuple[Turn, ...], facts: Sequence[str]) -> bytes:
    at = _START + timedelta(minutes=number)
    said = [Turn(role=Role.USER, text=text, at=at, trust=Trust.USER) for text in facts]
    return SessionEnded(
        org=org, session=f"s-{number}", agent="coder", project=f"project-{number % 5}", user=f"user-{number % 50}",
        ended_at=at, transcript=Transcript(turns=(*conversation, *said)),
    ).model_dump_json(exclude_none=True).encode()  # fmt: skip


def vectors(count: int, seed: int) -> Vectors:
    """Unit vectors around CLUSTERS centres; the spread of a cluster is a third of the distance between two."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((CLUSTERS, DIMENSION), dtype=np.float32)
    points = centres[rng.integers(0, CLUSTERS, count)] + 0.5 * rng.standard_normal((count, DIMENSION), np.float32)
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), dtype=np.float32)


class RecordedExtractor:
    """Proposes the facts at the end of a transcript, with the turns they stand in."""

    provider = _PROVENANCE.provider

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            yield job.run_id, Done(Proposal(_envelope(job.transcript), _PROVENANCE))


def _envelope(transcript: Transcript) -> Envelope:
    first = len(transcript.turns) - FACTS
    said = [(first + place, transcript.turns[first + place].text) for place in range(FACTS)]
    return Envelope(candidates=tuple(_candidate(turn, text) for turn, text in said))


def _candidate(turn: int, text: str) -> Candidate:
    evidence = (Evidence(turn=turn, quote=text),)
    return Candidate(content=text, kind=Kind.FACT, rationale=_RATIONALE, evidence=evidence, confidence=0.9)


class RecordedEmbedder:
    """The vector of a known text, by look-up."""

    stamp = STAMP

    def __init__(self, folder: Path) -> None:
        self._at = {text: number for number, text in enumerate(json.loads((folder / "texts.json").read_text()))}
        self._vectors: Vectors = np.load(folder / "vectors.npy")

    def passages(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(self._vectors[[self._at[text] for text in texts]])

    def query(self, text: str) -> Vectors:
        return np.asarray(self._vectors[self._at[text]])
