from __future__ import annotations

import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from ops.credentials import (
    database_address,
    database_admin_address,
    database_password,
    installation_key,
    redis_address,
)
from ops.settings import Settings
from pipeline.errors import SettingError

PASSWORD = "p@ss/word:?"


def test_embedded_servers_take_generated_passwords(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    password = database_password(settings, "agent")
    assert password == database_password(settings, "agent") != database_password(settings, "worker")
    assert unquote(urlsplit(database_address(settings, "agent")).password or "") == password
    assert stat.S_IMODE((tmp_path / "secrets" / "afterword_agent").stat().st_mode) == 0o600
    assert urlsplit(database_admin_address(settings)).password is None
    assert redis_address(settings, "emitter").startswith("unix://emitter:")


def test_managed_servers_take_theirs_from_the_settings(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path,
        database_url="postgresql://db:5433/afterword?sslmode=require",
        database_admin_url="postgresql://admin:x@db:5433/afterword",
        database_password_worker=PASSWORD,
        redis_url="rediss://cache:6380/0",
        redis_password_limiter=PASSWORD,
    )
    assert (
        database_address(settings, "worker")
        == "postgresql://afterword_worker:p%40ss%2Fword%3A%3F@db:5433/afterword?sslmode=require"
    )
    assert database_admin_address(settings) == "postgresql://admin:x@db:5433/afterword"
    assert redis_address(settings, "limiter") == "rediss://limiter:p%40ss%2Fword%3A%3F@cache:6380/0"
    assert not (tmp_path / "secrets").exists()


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda s: database_address(s, "agent"), "AFTERWORD_DATABASE_PASSWORD_AGENT"),
        (lambda s: database_address(s, "operator"), "AFTERWORD_DATABASE_PASSWORD_OPERATOR"),
        (database_admin_address, "AFTERWORD_DATABASE_ADMIN_URL"),
        (lambda s: redis_address(s, "worker"), "AFTERWORD_REDIS_PASSWORD_WORKER"),
    ],
)
def test_a_missing_credential_of_a_managed_server_is_named(ask, name: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url="postgresql://db/afterword", redis_url="redis://cache")
    with pytest.raises(SettingError, match=f"^{name} is unset"):
        ask(settings)


def test_a_socket_in_the_path_keeps_its_place(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, redis_url="unix:///run/valkey.sock", redis_password_worker="p")
    assert redis_address(settings, "worker") == "unix://worker:p@/run/valkey.sock"


def test_the_installation_key_is_the_set_one_or_stays_the_generated_one(tmp_path: Path) -> None:
    generated = installation_key(Settings(home=tmp_path))
    assert len(generated) >= 32
    assert installation_key(Settings(home=tmp_path)) == generated
    assert installation_key(Settings(home=tmp_path, installation_key="mine")) == b"mine"
