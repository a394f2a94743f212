"""Recall by evidence on LoCoMo: each conversation goes through the real stages, each question through the real call.

    sessions --ingest, extraction, redaction, embedding, consolidation--> memories --recall()--> turns in rank order

A scripted endpoint answers the observations over HTTP, as if a model had proposed them; the org lets person, dob,
address and phone activate. A fact stands for the turns it cites, as in the scorer that comes with the data.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from db import orgs, tokens
from db.connect import granted
from db.embedding import current_stamp
from db.recall import Question, recall
from db.tokens import Bearer
from ops.compose import working_detectors
from ops.settings import load
from pipeline.embedding.adapters.local import STAMP, LocalEmbedder
from pipeline.embedding.port import Stamp, Vectors
from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.adapters.offline import OfflineExtractor
from pipeline.extraction.adapters.pydantic_ai import ModelExtractor
from pipeline.extraction.port import Extractor
from pipeline.provenance import EndpointClass
from tests.benchmarks.recall.conversations import AGENT, Conversation, conversations
from tests.benchmarks.site import Site, opened
from tests.doubles.model_server import ModelServer, Reply
from tests.fleet import Fleet
from tests.services import Database

HITS = 20
SETTINGS = {
    "extraction": True, "required_classes": frozenset({"person"}),
    "activatable_classes": frozenset({"person", "dob", "address", "phone"}),
}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """What stands to be found: what an extractor proposed, what was said, or both."""

    name: str
    proposes: str
    turns: bool


SIDES = (
    Side("facts and turns", "observations", True),
    Side("turns", "nothing", True),
    Side("facts", "observations", False),
    Side("offline facts and turns", "offline", True),
)


class Remembered:
    """The local embedder, each text embedded once and kept in a file between runs."""

    def __init__(self, file: Path) -> None:
        self._file, self._embedder = file, LocalEmbedder(threads=2)
        self._known: dict[str, Vectors] = {}
        if file.exists():
            with np.load(file, allow_pickle=False) as stored:
                self._known = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))

    @property
    def stamp(self) -> Stamp:
        return STAMP

    def passages(self, texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if f"passage\x1f{text}" not in self._known]
        for text, vector in zip(fresh, self._embedder.passages(fresh) if fresh else (), strict=True):
            self._known[f"passage\x1f{text}"] = vector
        return np.stack([self._known[f"passage\x1f{text}"] for text in texts])

    def query(self, text: str) -> Vectors:
        key = f"query\x1f{text}"
        if key not in self._known:
            self._known[key] = self._embedder.query(text)
        return self._known[key]

    def save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(self._file, texts=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))


def measure(data: Path, cache: Path, sides: Sequence[Side] = SIDES) -> dict[str, Any]:
    """R@5 and R@10 by side, and what became of what each conversation held."""
    told = list(conversations(data / "memory" / "locomo_dev6.json"))
    embedder = Remembered(cache / f"vectors-{STAMP.revision}.npz")
    with tempfile.TemporaryDirectory(prefix="afterword-locomo-") as home, _site(Path(home)) as site:
        scores = {}
        for side in sides:
            with site.database() as database:
                fleet = Fleet(database, site.valkey)
                try:
                    kept = _take_in(fleet, told, side, embedder)
                    scores[side.name] = _scored(data, _asked(database, told, embedder, Path(home))) | {"kept": kept}
                finally:
                    fleet.close()
            embedder.save()
    first = scores.get(SIDES[0].name, {})
    return {"locomo_r5": first.get("r5"), "locomo_r10": first.get("r10"), "locomo": scores}


@contextmanager
def _site(home: Path) -> Iterator[Site]:
    home.chmod(0o711)
    with opened(home, (), stamp=STAMP) as site:
        yield site


def _org(number: int) -> str:
    return f"conversation-{number}"


def _take_in(fleet: Fleet, told: Sequence[Conversation], side: Side, embedder: Remembered) -> dict[str, int]:
    """Every session of every conversation, in its own org, until nothing is due; kind and status of what is kept."""
    for number in range(len(told)):
        fleet.database.org(_org(number), **SETTINGS, turns=side.turns)
    with _extractor(told, side) as extractor:
        fleet.install(extractor=extractor, embedder=lambda: embedder, detectors=working_detectors(load()))
        for number, conversation in enumerate(told):
            rejected = fleet.ingest(*(talk.event(_org(number), conversation.people) for talk in conversation.talks))
            assert not rejected, rejected
        while fleet.rows("SELECT FROM runs WHERE due_at IS NOT NULL LIMIT 1"):
            fleet.run()
    dead = fleet.rows("SELECT error_code, error_detail FROM runs WHERE state = 'dead_letter'")
    assert not dead, dead
    counted = fleet.rows("SELECT kind, status, count(*) AS n FROM memories GROUP BY 1, 2 ORDER BY 1, 2")
    return {f"{row['kind']} {row['status']}": row["n"] for row in counted}


@contextmanager
def _extractor(told: Sequence[Conversation], side: Side) -> Iterator[Extractor]:
    if side.proposes == "offline":
        yield OfflineExtractor()
        return
    answers = {
        talk.transcript.turns[0].text + talk.transcript.turns[-1].text:
            talk.envelope() if side.proposes == "observations" else '{"candidates": []}'
        for conversation in told for talk in conversation.talks
    }  # fmt: skip

    def answer(request: Mapping[str, Any]) -> str:
        record = request["messages"][-1]["content"]
        lines = [json.loads(line) for line in record.splitlines() if line.startswith("{")]
        return answers[lines[0]["text"] + lines[-1]["text"]]

    with ModelServer([Reply(answer)]) as server:
        yield ModelExtractor(Endpoint(base_url=server.base_url, model="scripted", endpoint_class=EndpointClass.LOCAL))


def _asked(database: Database, told: Sequence[Conversation], embedder: Remembered, home: Path) -> Path:
    """The turns found for each question, in the format of the scorer."""
    file = home / "predictions.jsonl"
    bearer = Bearer("agent", "benchmark", agent=AGENT)
    with database.as_role("operator") as conn:
        ids = [orgs.get(conn, _org(number)).id for number in range(len(told))]
        minted = [tokens.mint(conn, org, bearer, lives_seconds=86_400) for org in ids]
    with database.as_role("worker") as conn:
        current = current_stamp(conn)
    assert current is not None
    with database.as_role("agent") as conn, file.open("w") as out:
        for number, conversation in enumerate(told):
            for question, text in conversation.questions.items():
                asked = Question(text, embedder.query(text), current[0], HITS)
                with granted(conn, minted[number]):
                    hits = recall(conn, asked).hits
                turns = [f"{hit.session}:{turn + 1}" for hit in hits for turn in hit.turns]
                out.write(json.dumps({"sample": number, "qa": question, "turns": turns}) + "\n")
    return file


def _scored(data: Path, predictions: Path) -> dict[str, float]:
    program, questions = data / "score" / "locomo.py", data / "memory" / "locomo_dev6.json"
    done = subprocess.run([sys.executable, program, questions, predictions], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    assert found["missing"] == 0, found
    return found
