"""afterword eval ab: two ways of asking a scripted endpoint about real files, side by side, stored nowhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ops.cli import main
from tests.doubles.model_server import Answer, Failure, Line, ModelServer, Reply

pytest.importorskip("openai", reason="the extra `openai` is not installed")

SAID = "We deploy the shop on Tuesdays only."
Eval = Callable[..., tuple[int, str, str]]


def envelope(*contents: str) -> str:
    return json.dumps({"candidates": [{"content": one, "kind": "fact", "rationale": "r"} for one in contents]})


def by_prompt(request: dict[str, Any]) -> str:
    mine = request["messages"][0]["content"] == "A short prompt."
    return envelope(SAID, "Shop | front is in Porto.") if mine else envelope(SAID.rstrip("."))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("a", "b"):
        messages = [{"role": "user", "content": f"{SAID} Also, shelf {name} is empty."}]
        (folder / f"{name}.json").write_text(json.dumps({"messages": messages}))
    (tmp_path / "mine.md").write_text("A short prompt.")
    return tmp_path


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: Path) -> Eval:
    def run(script: list[Line], *words: object) -> tuple[int, str, str]:
        with ModelServer(script) as server:
            for name, value in (("EXTRACTOR", "openai"), ("EXTRACTION_MODEL", "m-1"), ("NER", "none"),
                                ("EXTRACTION_ENDPOINT_CLASS", "local"),
                                ("EXTRACTION_BASE_URL", server.base_url)):  # fmt: skip
                monkeypatch.setenv(f"AFTERWORD_{name}", value)
            monkeypatch.setattr(sys, "argv", ["afterword", "eval", "ab", *map(str, words)])
            with pytest.raises(SystemExit) as exit:
                main()
        said = capsys.readouterr()
        return int(exit.value.code or 0), said.out, said.err

    return run


def test_two_prompts_are_compared_with_what_they_cost(compare: Eval, files: Path) -> None:
    words = ("--prompt", "extraction", "--prompt", files / "mine.md", "--sessions", files / "sessions")
    code, out, _ = compare([Reply(by_prompt)], *words, "--into", files / "report.md", "--json")
    report = json.loads(out)
    assert code == 0
    assert json.loads((files / "report.json").read_text()) == report
    assert (report["a"]["calls"], report["a"]["input_tokens"], report["a"]["cost_usd"]) == (2, 200, None)
    assert report["a"]["prompt"].startswith("extraction@")
    assert report["b"]["prompt"].startswith("mine@")
    for session in report["sessions"]:
        [pair] = session["pairs"]
        assert pair["alike"] is True
        assert [one["content"] for one in session["only_b"]] == ["Shop | front is in Porto."]
    markdown = (files / "report.md").read_text()
    assert "| | fact: Shop \\| front is in Porto. | B alone |" in markdown
    assert "says the same" in markdown


def test_two_models_are_asked_by_their_names_and_one_that_fails_is_named(compare: Eval, files: Path) -> None:
    script: list[Line] = [Answer(envelope(SAID)), Answer(envelope(SAID)), Failure(401)]
    code, out, _ = compare(script, "--model", "m-1", "--model", "m-2", "--sessions", files / "sessions", "--json")
    report = json.loads(out)
    assert code == 1
    assert (report["a"]["model"], report["b"]["model"], report["b"]["failed"]) == ("m-1", "m-2", 2)
    assert all(session["b"].startswith("model_refused") for session in report["sessions"])


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        ((), "give --prompt twice, or --model twice"),
        (("--prompt", "extraction", "--prompt", "gone.md"), "name one of ours"),
    ],
)
def test_what_cannot_be_compared_is_refused(compare: Eval, files: Path, words: tuple[str, ...], way_out: str) -> None:
    code, _, err = compare([Answer(envelope())], *words, "--sessions", files / "sessions")
    assert code in (1, 2)
    assert way_out in " ".join(err.split())
