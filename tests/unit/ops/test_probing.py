"""A worker for embeddings tries its embedder first: refused where it is wrong, started where it is only away."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ops import probing
from ops.cli import main
from ops.settings import load
from pipeline.errors import SettingError
from tests.doubles.embedding_server import EmbeddingServer, Failure, Line, Vectors


def start(server: EmbeddingServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which stages were started; nothing runs."""
    started: list[str] = []
    settings = {"HOME": str(home), "EMBEDDER": "openai", "EMBEDDING_MODEL": "m-1", "EMBEDDING_DIMENSION": "8",
                "EMBEDDING_BASE_URL": server.base_url, "NER": "none"}  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(f"AFTERWORD_{name}", value)
    monkeypatch.setattr("workers.fleet.run", lambda name, *_, **__: started.append(name))
    monkeypatch.setattr("workers.context.install", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["afterword", "worker", "embedding"])
    with pytest.raises(SystemExit) as end:
        main()
    return started if end.value.code == 0 else []


@pytest.mark.parametrize(
    ("line", "starts", "said"),
    [
        (Vectors(8), True, ""),
        (Failure(503), True, "embedder_unavailable"),
        (Vectors(6), False, "error: AFTERWORD_EMBEDDING_DIMENSION is 8, but m-1 answers with vectors of 6"),
        (Failure(401), False, "error: AFTERWORD_EMBEDDER: a first text could not be embedded"),
    ],
)
def test_only_what_is_wrong_keeps_a_worker_from_starting(
    line: Line, starts: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with EmbeddingServer([line]) as server:
        assert start(server, tmp_path, monkeypatch) == (["embedding"] if starts else [])
        assert server.requests
    out, err = capfd.readouterr()
    assert said in out + err
    assert "Traceback" not in out + err


def test_an_embedder_that_kills_its_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_EMBEDDER", "none")
    monkeypatch.setattr(probing, "make_embedder", lambda _: os._exit(11))
    with pytest.raises(SettingError, match="the process that tried the embedder died"):
        probing.probe_apart(load())
