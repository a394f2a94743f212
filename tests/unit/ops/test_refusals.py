"""What would keep a worker from starting is said before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ops.cli import main

CHOSEN = {
    "AFTERWORD_EXTRACTOR": "offline",
    "AFTERWORD_ALLOW_OFFLINE_EXTRACTOR": "true",
    "AFTERWORD_EMBEDDER": "none",
    "AFTERWORD_NER": "none",
}
MANAGED_REDIS = {"AFTERWORD_REDIS_URL": "redis://127.0.0.1:1"}
MANAGED_DATABASE = {"AFTERWORD_DATABASE_URL": "postgresql://127.0.0.1:1/afterword"}


@pytest.mark.parametrize("command", ["check", "up"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (MANAGED_REDIS, "AFTERWORD_REDIS_PASSWORD_WORKER is unset"),
        (MANAGED_DATABASE, "AFTERWORD_DATABASE_PASSWORD_WORKER is unset"),
        ({"AFTERWORD_TRANSCRIPT_HOSTS": "one,two,"}, "AFTERWORD_TRANSCRIPT_HOSTS"),
        (
            {"AFTERWORD_HOME": "/dev/null/home"},
            "AFTERWORD_HOME is /dev/null/home, which cannot be made: Not a directory",
        ),
        ({"AFTERWORD_EMBEDDER": "openai"}, "AFTERWORD_EMBEDDING_MODEL is unset"),
    ],
)
def test_a_setting_that_no_worker_starts_with_is_refused_at_once(
    command: str,
    settings: dict[str, str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {**CHOSEN, "AFTERWORD_HOME": str(tmp_path), **settings}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["afterword", command])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 1
    assert f"error: {said}" in capsys.readouterr().err
    assert not (tmp_path / "postgres").exists()


def test_a_check_without_any_login_still_shows_every_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**CHOSEN, **MANAGED_DATABASE, "AFTERWORD_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["afterword", "check"])
    with pytest.raises(SystemExit):
        main()
    assert "AFTERWORD_DATABASE_URL" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (MANAGED_REDIS, "AFTERWORD_REDIS_PASSWORD_WORKER is unset"),
        (MANAGED_DATABASE, "AFTERWORD_DATABASE_PASSWORD_WORKER is unset"),
    ],
)
def test_the_demo_says_why_its_fleet_did_not_start(
    settings: dict[str, str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    quiet = {"AFTERWORD_LOG_LEVEL": "warning"}
    for name, value in {**CHOSEN, **quiet, "AFTERWORD_HOME": str(tmp_path), **settings}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["afterword", "demo"])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 1
    assert f"error: the fleet stopped; {said}" in capsys.readouterr().err
