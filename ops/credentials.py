"""Addresses with credentials: of managed servers from the settings, of embedded ones from AFTERWORD_HOME/secrets."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from ops.embedded.home import Home
from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from ops.settings import PREFIX, Settings
from pipeline.errors import SettingError

DATABASE = "afterword"
Role = Literal["agent", "reviewer", "operator", "worker"]
RedisUser = Literal["emitter", "worker", "limiter"]


def database_password(settings: Settings, role: Role) -> str:
    """The password of afterword_<role>. Raises SettingError when a managed Postgres is set without it."""
    if settings.database_url is None:
        return EmbeddedPostgres(settings.home).password(f"afterword_{role}")
    return _required(settings, f"database_password_{role}")


def database_address(settings: Settings, role: Role) -> str:
    """The libpq URI by which a process of that role connects."""
    password = database_password(settings, role)
    if settings.database_url is None:
        return EmbeddedPostgres(settings.home).url(DATABASE, f"afterword_{role}", password)
    return _with_credentials(settings.database_url, f"afterword_{role}", password)


def database_admin_address(settings: Settings) -> str:
    """The libpq URI for migrations: the embedded superuser, or AFTERWORD_DATABASE_ADMIN_URL."""
    if settings.database_url is None:
        return EmbeddedPostgres(settings.home).url(DATABASE)
    return _required(settings, "database_admin_url")


def redis_address(settings: Settings, user: RedisUser) -> str:
    """The redis-py URL by which that ACL user connects."""
    if settings.redis_url is None:
        return EmbeddedValkey(settings.home).url(user)
    return _with_credentials(settings.redis_url, user, _required(settings, f"redis_password_{user}"))


def installation_key(settings: Settings) -> bytes:
    """The key of the erasure register: the setting, or one generated in AFTERWORD_HOME/secrets."""
    if settings.installation_key is not None:
        return settings.installation_key.get_secret_value().encode()
    return Home(settings.home).password("installation_key").encode()


def _required(settings: Settings, name: str) -> str:
    value = getattr(settings, name)
    if not isinstance(value, SecretStr):
        raise SettingError(f"{PREFIX}{name.upper()} is unset, and this process connects to a managed server with it.")
    return value.get_secret_value()


def _with_credentials(url: str, user: str, password: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{quote(user, safe='')}:{quote(password, safe='')}@{parts.netloc}").geturl()
