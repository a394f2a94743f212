from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from ops.logs import configure
from pipeline.errors import AfterwordError


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)


def logged(level: str = "info", *, as_json: bool = True) -> io.StringIO:
    stream = io.StringIO()
    configure(level, as_json=as_json, stream=stream)
    return stream


def test_both_kinds_of_logger_speak_alike() -> None:
    stream = logged()
    structlog.contextvars.bind_contextvars(stage="redaction")
    structlog.get_logger("ours").info("run_committed", runs=3)
    logging.getLogger("theirs").warning("lost %s of %s", 1, 2)
    ours, theirs = (json.loads(line) for line in stream.getvalue().splitlines())
    assert ours.pop("timestamp").endswith("Z")
    assert theirs.pop("timestamp").endswith("Z")
    assert ours == {"event": "run_committed", "runs": 3, "level": "info", "logger": "ours", "stage": "redaction"}
    assert theirs == {"event": "lost 1 of 2", "level": "warning", "logger": "theirs", "stage": "redaction"}


@pytest.mark.parametrize(
    ("level", "heard"),
    [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)],
)
def test_the_level_holds_for_both(level: str, heard: int) -> None:
    stream = logged(level)
    for log in (structlog.get_logger("ours"), logging.getLogger("theirs")):
        for method in ("debug", "info", "warning", "error"):
            getattr(log, method)("said")
    assert len(stream.getvalue().splitlines()) == 2 * heard


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(
    "fields",
    [
        {"password": "hunter2"},
        {"database_password_agent": "hunter2"},
        {"extraction_api_key": "hunter2"},
        {"installation_key": "hunter2"},
        {"url": "postgresql://afterword_worker:hunter2@db/afterword"},
        {"event": "cannot reach redis://worker:hunter2@cache:6379"},
        {"event": "cannot reach redis://:hunter2@cache:6379"},
    ],
)
def test_no_secret_is_written(fields: dict[str, str], as_json: bool) -> None:
    stream = logged(as_json=as_json)
    structlog.get_logger("ours").info(**({"event": "said"} | fields))
    logging.getLogger("theirs").info("%s", fields.get("event", fields.get("url", "-")))
    assert "hunter2" not in stream.getvalue()
    assert "***" in stream.getvalue()


def test_an_exception_is_written_without_secrets_or_local_variables() -> None:
    stream = logged()
    content = "marzi" + "pan"
    try:
        assert content
        raise ConnectionError("no answer from redis://worker:hunter2@cache")
    except ConnectionError:
        structlog.get_logger("ours").exception("bell_failed")
    said = json.loads(stream.getvalue())["exception"]
    assert said.endswith("builtins.ConnectionError")
    assert "marzipan" not in stream.getvalue()


def test_configuring_twice_does_not_say_everything_twice() -> None:
    logged()
    stream = logged()
    logging.getLogger("theirs").info("once")
    assert len(stream.getvalue().splitlines()) == 1


class Refused(AfterwordError):
    """Afterword's own."""


def test_a_trace_names_types_and_places_and_of_words_our_own_alone() -> None:
    """Postgres, a library and a note quote what they could not take."""
    stream = logged()
    said = "Ana" + " Quintela"
    try:
        try:
            raise ValueError(said)
        except ValueError as error:
            error.add_note(said)
            raise KeyError(said) from error
    except KeyError:
        structlog.get_logger("ours").exception("run_failed")
    try:
        raise Refused("the answer is empty")
    except Refused:
        logging.getLogger("theirs").exception("refused")
    ours, theirs = (json.loads(line)["exception"] for line in stream.getvalue().splitlines())
    assert said not in ours
    assert ours.index("builtins.ValueError\ncaused") < ours.index("builtins.KeyError")
    assert theirs.endswith("Refused: the answer is empty")
