"""One peer in a process of its own, with its own environment: python driver.py PEER CONNINFO FOLDER

Imports nothing of ours. Reads one JSON request a line and answers each with one: {"add": [from, to]} with the seconds
it took, {"put_many": [from, to]} likewise, {"open": SIZE} with true, {"search": number} with milliseconds and texts.
FOLDER holds texts and vectors; every vector is made before, so that the embedder is a look-up.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np

HITS = 10


class Peer(Protocol):
    def add(self, text: str) -> None: ...

    def add_many(self, texts: list[str]) -> None: ...

    def open(self, table: str) -> None:
        """Use what was loaded under this name."""

    def search(self, text: str) -> list[str]: ...


class LookUp:
    """The vector of a known text."""

    def __init__(self, folder: Path) -> None:
        self._vectors: dict[str, list[float]] = {}
        for texts in sorted(folder.glob("*.json")):
            made = np.load(texts.with_suffix(".npy"))
            self._vectors |= dict(zip(json.loads(texts.read_text()), made.tolist(), strict=True))

    def __call__(self, text: str) -> list[float]:
        return self._vectors[text]


def main(name: str, conninfo: str, folder: Path) -> None:
    look_up = LookUp(folder)
    if name == "mem0":
        from mem0_side import Mem0

        peer: Peer = Mem0(conninfo, folder, look_up)
    else:
        from langgraph_side import LangGraph

        peer = LangGraph(conninfo, look_up)
    texts = json.loads((folder / "added.json").read_text())
    asked = json.loads((folder / "asked.json").read_text())
    for line in sys.stdin:
        print(json.dumps(_answer(peer, json.loads(line), texts, asked)), flush=True)


def _answer(peer: Peer, request: dict[str, Any], texts: list[str], asked: list[str]) -> Any:
    ((verb, given),) = request.items()
    started = time.perf_counter()
    if verb == "search":
        found = peer.search(asked[given])
        return {"milliseconds": 1000 * (time.perf_counter() - started), "texts": found}
    if verb == "open":
        peer.open(given)
        return True
    if verb == "add":
        for text in texts[slice(*given)]:
            peer.add(text)
    else:
        peer.add_many(texts[slice(*given)])
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
