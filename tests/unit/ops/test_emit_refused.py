"""What keeps a session log from being sent is said once, by the file or field at fault, with a way out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ops.cli import main

LOG = json.dumps(
    [{"role": "user", "content": "We decided to keep the cache."}, {"role": "assistant", "content": "OK."}]
)
Emit = Callable[..., tuple[object, str]]
HOOK = "error: not a SessionEnd hook on standard input: "
DOWN = "Is the stack running? See: afterword up"


@pytest.fixture
def emit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Emit:
    """`afterword emit` where no Redis answers: its exit code and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path / "home"))
    Path("log.json").write_text(LOG)
    Path("empty.jsonl").write_text("")
    Path("folder").mkdir()

    def run(*words: str, stdin: str = "") -> tuple[object, str]:
        monkeypatch.setattr(sys, "argv", ["afterword", "emit", "--org", "acme", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as exit:
            main()
        return exit.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("words", "stdin", "code", "said"),
    [
        (["absent.jsonl"], "", 1, "absent.jsonl: not taken in: No such file or directory\n"),
        (["empty.jsonl"], "", 1, "empty.jsonl: not taken in: The session log is empty. Known formats: "),
        (["log.json", "--outcome", "maybe", "--timeout", "0"], "", 1, "log.json: not taken in: outcome: Input should"),
        (["folder"], "", 2, "no session logs given"),
        (["--hook", "claude-code"], "{}", 1, f"{HOOK}session_id: Field required\n"),
        (["--hook", "claude-code"], "said", 1, f"{HOOK}Invalid JSON: expected value"),
        (["log.json", "--timeout", "0"], "", 1, DOWN),
        (["log.json", "--timeout", "0.1"], "", 1, DOWN),
    ],
)
def test_a_refusal_names_what_is_at_fault(emit: Emit, words: list[str], stdin: str, code: int, said: str) -> None:
    ended, err = emit(*words, stdin=stdin)
    assert (ended, said in err) == (code, True), err
    assert "Traceback" not in err
