"""A model at an OpenAI-compatible endpoint, through the whole product: what it answers badly costs that run alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.acceptance.stack import running
from tests.doubles.model_server import Answer, Failure, ModelServer

SAID = "We decided to keep the search index on the second replica."


def session(folder: Path, name: str) -> Path:
    turn = {"role": "user", "text": SAID, "at": datetime(2026, 5, 4, tzinfo=UTC).isoformat(), "trust": "user"}
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"turns": [turn]}))
    return file


def envelope(**more: object) -> str:
    evidence = [{"turn": 0, "quote": "keep the search index on the second replica"}]
    candidate = {
        "content": SAID,
        "kind": "fact",
        "rationale": "a decision that stands in no file",
        "evidence": evidence,
    }
    return json.dumps({"candidates": [candidate | more]})


@pytest.mark.timeout(180)
def test_good_and_bad_answers(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = tmp_path_factory.mktemp("sessions")
    script = [Answer(envelope()), Answer(envelope(status="active")), Answer(envelope(importance=5)), Failure(401)]
    with (
        ModelServer(script) as server,
        running(
            tmp_path_factory.mktemp("home"),
            AFTERWORD_EXTRACTOR="openai",
            AFTERWORD_EXTRACTION_MODEL="scripted",
            AFTERWORD_EXTRACTION_ENDPOINT_CLASS="local",
            AFTERWORD_EXTRACTION_BASE_URL=server.base_url,
            AFTERWORD_EMBEDDER="none",
        ) as stack,
    ):
        stack.org("acme")
        for number, ends in enumerate(("consolidated", "dead_letter", "dead_letter"), 1):
            stack.run("emit", str(session(files, f"s{number}")), "--org", "acme")
            states = stack.await_idle("acme", number)
            assert ends in states
        assert states == {"consolidated": 1, "dead_letter": 2}
        codes = {row["error_code"] for row in stack.json("dead-letters", "list")}
        assert codes == {"malformed_envelope", "model_refused"}
        found = stack.json("recall", "search index", "--org", "acme")
        assert [hit["content"] for hit in found["hits"]] == [SAID]
        assert found["mode"] == "lexical"
        assert stack.logged("error") == []
