"""Generates the secrets that docker-compose.yml mounts: `python -m ops.fleet_secrets FOLDER`.

file                  mounted into   holds
postgres_password     postgres       of its superuser, which only `migrate` uses besides
valkey_users.acl      valkey         every ACL user with the hash of its password
migrate.toml          migrate        settings file: the admin URL, and the password each login role gets
worker.toml           the stages     settings file: the passwords a worker connects with, the installation key
operator.toml         cli            settings file: the passwords of every login, since the commands act as each
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from secrets import token_urlsafe

from ops.embedded.redis_users import acl_lines

_LOGINS = ("agent", "reviewer", "operator", "worker")
# So that a health check proves more than an open port; it may do nothing else, and so needs no password.
_HEALTH_USER = "user health on nopass resetkeys resetchannels -@all +ping"


def write_fleet_secrets(folder: Path) -> list[Path]:
    """Writes every file. Raises FileExistsError when the folder holds anything: a secret in use is never replaced.

    The folder is closed to others (0700) and the files in it are not (0444): a container sees the file alone, by its
    own mode and under a user id that the host does not know.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; secrets that are in use are not replaced")
    contents = fleet_secrets()
    for name, text in contents.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o444)
    return [folder / name for name in contents]


def fleet_secrets() -> dict[str, str]:
    """File name to content, with fresh passwords of 256 bits."""
    superuser, installation_key = token_urlsafe(32), token_urlsafe(32)
    database = {f"database_password_{login}": token_urlsafe(32) for login in _LOGINS}
    redis = {user: token_urlsafe(32) for user in ("emitter", "worker", "limiter")}
    both = {"installation_key": installation_key, "redis_password_worker": redis["worker"]}
    return {
        "postgres_password": superuser,
        "valkey_users.acl": "\n".join([*acl_lines(redis), _HEALTH_USER]) + "\n",
        "migrate.toml": _toml(
            {"database_admin_url": f"postgresql://postgres:{superuser}@postgres:5432/afterword"} | database
        ),
        "worker.toml": _toml(both | {"database_password_worker": database["database_password_worker"]}),
        "operator.toml": _toml(both | database | {"redis_password_emitter": redis["emitter"]}),
    }


def _toml(values: Mapping[str, str]) -> str:
    return "".join(f'{name} = "{value}"\n' for name, value in values.items())


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m ops.fleet_secrets FOLDER")
    try:
        written = write_fleet_secrets(Path(sys.argv[1]))
    except FileExistsError as refusal:
        sys.exit(str(refusal))
    sys.stdout.writelines(f"{path}\n" for path in written)


if __name__ == "__main__":
    main()
