from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rq
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from ops.embedded.valkey import EmbeddedValkey
from ops.processes import has_ended

STARTER = """
import signal, sys
from pathlib import Path
from ops.embedded.valkey import EmbeddedValkey
server = EmbeddedValkey(Path(sys.argv[1]))
server.start(die_with_parent=True)
print(server.pid(), flush=True)
signal.pause()
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    server = EmbeddedValkey(tmp_path_factory.mktemp("v"))
    server.start(die_with_parent=True)
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("user", "command", "allowed"),
    [
        ("emitter", "XADD afterword:sessions * event {}", True),
        ("emitter", "GET afterword:ack:e1", True),
        ("emitter", "PING", True),
        ("emitter", "XADD afterword:other * event {}", False),
        ("emitter", "XADD rq:queue:redaction * event {}", False),
        ("emitter", "XREAD STREAMS afterword:sessions 0", False),
        ("emitter", "XRANGE afterword:sessions - +", False),
        ("emitter", "XLEN afterword:sessions", False),
        ("emitter", "XTRIM afterword:sessions MAXLEN 0", False),
        ("emitter", "XDEL afterword:sessions 0-1", False),
        ("emitter", "DEL afterword:sessions", False),
        ("emitter", "GET afterword:bell:redaction", False),
        ("emitter", "SET afterword:ack:e1 1", False),
        ("emitter", "LPUSH rq:queue:redaction job", False),
        ("emitter", "PUBLISH rq:pubsub:w stop", False),
        ("emitter", "EVAL return 0", False),
        ("emitter", "KEYS *", False),
        ("worker", "XADD afterword:sessions * event {}", True),
        ("worker", "XLEN afterword:sessions", True),
        ("worker", "SET afterword:bell:redaction 1 NX EX 5", True),
        ("worker", "LPUSH rq:queue:redaction job", True),
        ("worker", "PUBLISH rq:pubsub:w stop", True),
        ("worker", "INFO server", True),
        ("worker", "CLIENT LIST", True),
        ("worker", "BGREWRITEAOF", True),  # the last step of an erasure
        ("worker", "SET elsewhere 1", False),
        ("worker", "PUBLISH elsewhere stop", False),
        ("worker", "KEYS *", False),
        ("worker", "FLUSHALL", False),
        ("worker", "FLUSHDB", False),
        ("worker", "CONFIG GET *", False),
        ("worker", "ACL LIST", False),
        ("worker", "CLIENT KILL TYPE normal", False),
        ("worker", "SWAPDB 0 0", False),
        ("worker", "SHUTDOWN", False),
        ("worker", "REPLICAOF NO ONE", False),
        ("worker", "MODULE LIST", False),
        ("worker", "FUNCTION LIST", False),
        ("worker", "MONITOR", False),
        ("limiter", "INCR afterword:rate:token", True),
        ("limiter", "EXPIRE afterword:rate:token 60", True),
        ("limiter", "INCR afterword:bell:redaction", False),
        ("limiter", "INCR rq:queue:redaction", False),
        ("limiter", "XADD afterword:sessions * event {}", False),
        ("limiter", "KEYS *", False),
        ("limiter", "PUBLISH rq:pubsub:w stop", False),
        ("admin", "FLUSHDB", True),
    ],
)
def test_each_user_may_do_its_duty_and_nothing_else(
    shared: EmbeddedValkey, user: str, command: str, allowed: bool
) -> None:
    with Redis.from_url(shared.url(user)) as client:
        if allowed:
            client.execute_command(*command.split(" "))
        else:
            with pytest.raises((NoPermissionError, ResponseError), match="permission"):
                client.execute_command(*command.split(" "))


def test_a_script_of_the_limiter_stays_within_its_keys(shared: EmbeddedValkey) -> None:
    script = "return redis.call('INCR', KEYS[1])"
    with Redis.from_url(shared.url("limiter")) as client:
        assert client.eval(script, 1, "afterword:rate:script") == 1
        with pytest.raises(ResponseError, match="permission"):
            client.eval(script, 1, "afterword:bell:redaction")
        with pytest.raises(ResponseError, match="access a key"):
            client.eval("return redis.call('INCR', 'afterword:bell:redaction')", 0)


@pytest.mark.parametrize("credentials", ["", "worker:guess@", "default:guess@", "stranger:guess@"])
def test_nobody_comes_in_without_a_password(shared: EmbeddedValkey, credentials: str) -> None:
    with (
        Redis.from_url(f"unix://{credentials}{shared.socket}") as client,
        pytest.raises((AuthenticationError, ResponseError)),
    ):
        client.ping()


@pytest.mark.filterwarnings("default::DeprecationWarning:rq")
def test_rq_works_as_the_worker(shared: EmbeddedValkey) -> None:
    with Redis.from_url(shared.url("worker")) as client, Redis.from_url(shared.url("admin")) as admin:
        admin.acl_log_reset()
        queue = rq.Queue("redaction", connection=client)
        job = queue.enqueue(time.monotonic, job_timeout=-1, result_ttl=60)
        worker = rq.SimpleWorker([queue], connection=client)
        worker.work(burst=True)
        assert job.is_finished
        assert rq.Worker.all(connection=client) == []
        assert admin.acl_log() == []


def test_what_was_appended_outlives_a_stop(valkey: EmbeddedValkey) -> None:
    valkey.start()
    with Redis.from_url(valkey.url("worker")) as client:
        client.xadd("afterword:sessions", {"event": "{}"})
    valkey.stop()
    valkey.stop()
    assert valkey.pid() is None
    valkey.start()
    with Redis.from_url(valkey.url("worker")) as client:
        assert client.xlen("afterword:sessions") == 1


def test_a_running_server_is_shared(valkey: EmbeddedValkey, home: Path) -> None:
    valkey.start()
    other = EmbeddedValkey(home)
    other.start()
    assert other.pid() == valkey.pid()
    other.stop()
    assert valkey.pid() is None


def test_a_killed_parent_leaves_no_server(valkey: EmbeddedValkey, home: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", STARTER, str(home)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not has_ended(pid, 0)
    parent.kill()
    parent.communicate()
    assert has_ended(pid, 20)
    assert valkey.pid() is None


def test_a_killed_server_is_started_again(valkey: EmbeddedValkey) -> None:
    valkey.start()
    pid = valkey.pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert has_ended(pid, 10)
    valkey.start()
    assert valkey.pid() != pid


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        ("valkey", 0o700),
        ("valkey/users.acl", 0o600),
        ("secrets/redis_worker", 0o600),
        ("secrets/redis_admin", 0o600),
        ("run", 0o700),
        ("run/valkey.sock", 0o700),
    ],
)
def test_permissions(shared: EmbeddedValkey, path: str, mode: int) -> None:
    home = shared.socket.parent.parent
    assert oct(stat.S_IMODE((home / path).stat().st_mode)) == oct(mode)


def test_the_file_of_users_holds_hashes_only(shared: EmbeddedValkey) -> None:
    rules = (shared.socket.parent.parent / "valkey" / "users.acl").read_text()
    assert "user worker on #" in rules
    assert shared.password("worker") not in rules


def test_there_is_no_tcp_port(shared: EmbeddedValkey) -> None:
    with Redis.from_url(shared.url("admin")) as client:
        assert [str(value) for value in client.config_get("port").values()] == ["0"]
