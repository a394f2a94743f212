"""LangGraph's PostgresStore with its HNSW index (its default), and vectors by look-up. Calls of its API alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from uuid import uuid4

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

HITS = 10
DIMENSION = 384


class LangGraph:
    def __init__(self, conninfo: str, look_up: Callable[[str], list[float]]) -> None:
        def embed(texts: list[str]) -> list[list[float]]:
            return [look_up(text) for text in texts]

        index = {"dims": DIMENSION, "embed": embed, "fields": ["text"]}
        self._stack = ExitStack()
        self._store = self._stack.enter_context(PostgresStore.from_conn_string(conninfo, index=index))
        self._store.setup()
        self.open("added")

    def open(self, table: str) -> None:
        self._namespace = ("benchmark", table)

    def add(self, text: str) -> None:
        self._store.put(self._namespace, str(uuid4()), {"text": text})

    def add_many(self, texts: list[str]) -> None:
        self._store.batch([PutOp(self._namespace, str(uuid4()), {"text": text}) for text in texts])

    def search(self, text: str) -> list[str]:
        return [hit.value["text"] for hit in self._store.search(self._namespace, query=text, limit=HITS)]
