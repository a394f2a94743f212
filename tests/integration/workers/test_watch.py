"""A redaction worker watches its own detectors: one that goes blind, raises or hangs holds what it should have seen,
stops nobody, and is trusted again once it sees.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Span
from tests.fleet import Fleet, event
from tests.integration.workers.running import running
from tests.integration.workers.scripted import Echo
from tests.waiting import wait_for
from workers.bell import ring
from workers.watch import Watch

PLAIN = "The search service of team {} stores its documents in Postgres."
LOGIN = "The login of the {} release came from 8.8.4.4 on Monday."
QUICK = {"canary_seconds": 0.2, "detector_seconds": 1.0, "inspection_seconds": 5.0}


class Moody:
    """Sees, is blind, raises or hangs, as it is told."""

    name = "ip"
    classes = frozenset({"ip"})

    def __init__(self) -> None:
        self.mood = "sees"
        self.asked = 0
        self._seeing = next(detector for detector in ALL if detector.name == "ip")
        self._let_go = threading.Event()

    def detect(self, text: str) -> Sequence[Span]:
        self.asked += 1
        if self.mood == "raises":
            raise RuntimeError(text)
        if self.mood == "hangs":
            self._let_go.wait(30)
        return [] if self.mood == "blind" else self._seeing.detect(text)

    def let_go(self) -> None:
        self.mood = "sees"
        self._let_go.set()


def watch_over(detector: Moody, every_seconds: float = 0) -> Watch:
    return Watch((detector,), every_seconds=every_seconds, answer_seconds=0.2)


def held(fleet: Fleet, session: str) -> tuple[str, list[str]]:
    """(status, hold reasons) of the one memory of a session, once it is there."""
    (row,) = wait_for(lambda: fleet.rows(
        "SELECT status, hold_reasons FROM memories m JOIN runs r ON r.id = m.run_id WHERE r.session = %s", session
    ))  # fmt: skip
    return row["status"], row["hold_reasons"]


@pytest.mark.parametrize(("mood", "answers"), [("blind", True), ("raises", False), ("hangs", False)])
def test_a_round_shows_who_is_down_and_the_next_who_is_back(mood: str, answers: bool) -> None:
    moody = Moody()
    watch = watch_over(moody)
    assert watch.health().up == {"ip": True}
    moody.mood = mood
    health = watch.health()
    assert (health.up, health.covers("ip", {"en"})) == ({"ip": False}, False)
    assert bool(health.answering) == answers
    moody.let_go()
    wait_for(lambda: watch.health().up["ip"])


def test_one_that_hangs_is_not_asked_again_before_it_came_back() -> None:
    moody = Moody()
    moody.mood = "hangs"
    watch = watch_over(moody)
    for _ in range(5):
        assert watch.health().answering == ()
    assert moody.asked == 1
    moody.let_go()
    wait_for(lambda: watch.health().up["ip"])


def test_within_a_minute_nobody_is_asked_twice() -> None:
    moody = Moody()
    watch = watch_over(moody, every_seconds=60)
    first = watch.health()
    asked = moody.asked
    assert all(watch.health() is first for _ in range(3))
    assert moody.asked == asked
    watch.expire()
    assert watch.health() is not first


def test_while_one_thread_asks_others_go_by_the_last_round() -> None:
    moody = Moody()
    watch = Watch((moody,), every_seconds=0, answer_seconds=30)
    before = watch.health()
    moody.mood = "hangs"
    asking = threading.Thread(target=watch.health)
    asking.start()
    wait_for(lambda: moody.asked > 2)
    assert watch.health() is before
    moody.let_go()
    asking.join()


@pytest.mark.parametrize("mood", ["blind", "raises", "hangs"])
def test_what_a_detector_that_is_down_should_have_seen_is_held(fleet: Fleet, mood: str) -> None:
    fleet.database.org("strict", required_classes=["ip"])
    fleet.database.org("waived", required_classes=["ip"], waived_classes={"ip": "olga"})
    moody = Moody()
    moody.mood = mood
    rest = tuple(detector for detector in ALL if detector.name != "ip")
    fleet.install(extractor=Echo(), detectors=(*rest, moody), **QUICK)
    fleet.ingest(
        event(PLAIN.format("a"), org="strict", session="a"), event(PLAIN.format("b"), org="waived", session="b")
    )
    fleet.run()
    assert held(fleet, "a") == ("pending", ["detector_unavailable"])
    assert held(fleet, "b") == ("active", [])
    moody.let_go()
    fleet.using.watch.expire()
    fleet.ingest(event(PLAIN.format("c"), org="strict", session="c"))
    wait_for(lambda: fleet.using.watch.health().up["ip"])
    fleet.run()
    assert held(fleet, "c") == ("active", [])


def test_an_org_is_held_in_the_language_that_is_not_covered(fleet: Fleet) -> None:
    """Cards are looked for in full-width digits too: a detector that knows ASCII alone is deaf in Japanese."""

    class Plain:
        name = "card"
        classes = frozenset({"cc"})
        _whole = next(detector for detector in ALL if detector.name == "card")

        def detect(self, text: str) -> Sequence[Span]:
            return self._whole.detect(text) if text.isascii() else []

    fleet.database.org("english", required_classes=["cc"])
    fleet.database.org("japanese", required_classes=["cc"], languages=["en", "ja"])
    fleet.install(extractor=Echo(), detectors=(*(d for d in ALL if d.name != "card"), Plain()))
    fleet.ingest(*(event(PLAIN.format(org), org=org, session=org) for org in ("english", "japanese")))
    fleet.run()
    assert held(fleet, "english") == ("active", [])
    assert held(fleet, "japanese") == ("pending", ["detector_unavailable"])


def test_a_text_that_hangs_a_detector_fails_alone(fleet: Fleet) -> None:
    class Stuck(Moody):
        def detect(self, text: str) -> Sequence[Span]:
            if "the stuck release" in text:
                self._let_go.wait(30)
            return super().detect(text)

    stuck = Stuck()
    fleet.database.org("acme")
    fleet.install(extractor=Echo(), detectors=(*(d for d in ALL if d.name != "ip"), stuck), attempts_max=1, **QUICK)
    fleet.ingest(*(event(LOGIN.format(name), session=name) for name in ("first", "stuck", "last")))
    fleet.run("extraction", "redaction")
    ended = {row["session"]: (row["state"], row["error_code"]) for row in fleet.rows("SELECT * FROM runs")}
    assert ended == {
        "first": ("redacted", None),
        "stuck": ("dead_letter", "detector_failed"),
        "last": ("redacted", None),
    }
    stuck.let_go()


# --- The fleet as it runs: a process of its own, seen through its metrics.


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def shown(port: int, name: str, **labels: str) -> float | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError:  # a file of a process that is just beginning cannot be read yet
        return None
    for found, number in re.findall(rf"^{name}{{(.*)}} (.*)$", text, re.MULTILINE):
        if dict(re.findall(r'(\w+)="([^"]*)"', found)) == labels:
            return float(number)
    return None


def send(fleet: Fleet, session: str) -> None:
    fleet.ingest(event(PLAIN.format(session), session=session))
    fleet.run("extraction")
    ring(fleet.using.redis, "redaction", past_marker=True)


@pytest.mark.parametrize("mood", ["blind", "raises", "hangs"])
def test_a_fleet_holds_while_a_detector_is_down_and_its_metrics_say_so(fleet: Fleet, tmp_path: Path, mood: str) -> None:
    fleet.database.org("acme", required_classes=["ip"])
    fleet.install(extractor=Echo())
    port = free_port()
    with running(fleet, "redaction", tmp_path, metrics_port=port, **QUICK) as worker:
        wait_for(lambda: shown(port, "afterword_detector_up", detector="ip") == 1)
        assert shown(port, "afterword_canary_found", cls="cc", language="ja") == 1
        children = worker.children()
        (tmp_path / "mood").write_text(mood)
        wait_for(lambda: shown(port, "afterword_detector_up", detector="ip") == 0)
        assert shown(port, "afterword_canary_found", cls="ip", language="any") == 0
        wait_for(lambda: shown(port, "afterword_detector_up", detector="card") == 1)
        send(fleet, "during")
        assert held(fleet, "during") == ("pending", ["detector_unavailable"])
        (tmp_path / "mood").unlink()
        wait_for(lambda: shown(port, "afterword_detector_up", detector="ip") == 1)
        send(fleet, "after")
        assert held(fleet, "after") == ("active", [])
        assert worker.children() == children, "no worker was stopped by it"


def test_what_a_dead_process_said_counts_no_longer(fleet: Fleet, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "mood").write_text("blind")
    with running(fleet, "redaction", tmp_path, metrics_port=port, canary_seconds=600) as worker:
        wait_for(lambda: shown(port, "afterword_detector_up", detector="ip") == 0)
        (tmp_path / "mood").unlink()
        (child,) = worker.children()
        os.kill(child, signal.SIGKILL)
        wait_for(lambda: shown(port, "afterword_detector_up", detector="ip") == 1)
