"""mem0 with its pgvector store (HNSW, its default), nothing inferred, vectors by look-up. Calls of its API alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

HITS = 10
DIMENSION = 384
USER = "benchmark"


class _Embedder:
    def __init__(self, look_up: Callable[[str], list[float]]) -> None:
        self._look_up = look_up

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._look_up(text)

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self._look_up(text) for text in texts]


class Mem0:
    def __init__(self, conninfo: str, folder: Path, look_up: Callable[[str], list[float]]) -> None:
        os.environ |= {"MEM0_TELEMETRY": "false", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": "unused"}
        self._folder, self._conninfo, self._embedder = folder, conninfo, _Embedder(look_up)
        self.open("added")

    def open(self, table: str) -> None:
        from mem0 import Memory

        store = {"connection_string": self._conninfo, "collection_name": table, "embedding_model_dims": DIMENSION}
        self._memory = Memory.from_config({
            "vector_store": {"provider": "pgvector", "config": store},
            "history_db_path": str(self._folder / f"{table}.sqlite"),
        })  # fmt: skip
        self._memory.embedding_model = self._embedder
        self._memory.vector_store.list(top_k=1)  # makes the table where it is not there

    def add(self, text: str) -> None:
        self._memory.add(text, user_id=USER, infer=False)

    def add_many(self, texts: list[str]) -> None:
        self._memory.add([{"role": "user", "content": text} for text in texts], user_id=USER, infer=False)

    def search(self, text: str) -> list[str]:
        found = self._memory.search(text, filters={"user_id": USER}, top_k=HITS)
        return [hit["memory"] for hit in found["results"]]
