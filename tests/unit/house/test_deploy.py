"""The fleet of docker-compose.yml, as far as it can be judged without a container engine."""

from __future__ import annotations

import importlib.util
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from ops import settings
from ops.fleet_secrets import fleet_secrets
from tests.unit.house.sources import PACKAGES, ROOT, commands, project, tracked, wrong_calls, yaml

COMPOSE = yaml("docker-compose.yml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
STAGES = ["ingest", "extraction", "redaction", "embedding", "consolidation", "replay", "housekeeping"]
OURS = sorted(name for name, service in SERVICES.items() if "build" in service)
DOCKERFILE = re.sub(r"\s*\\\n\s*", " ", (ROOT / "Dockerfile").read_text())


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["user"].partition(":")[0]) > 0
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


@pytest.mark.parametrize("name", sorted(SERVICES.keys() - {"migrate", "cli"}))
def test_a_service_that_stays_up_is_watched_and_given_time_to_stop(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["stop_grace_period"]


def test_nothing_is_taken_from_the_shells_environment() -> None:
    assert "$" not in (ROOT / "docker-compose.yml").read_text()


def test_every_stage_runs_and_is_scraped() -> None:
    worked = {
        service["command"][1]: name for name, service in SERVICES.items() if service.get("command", [""])[0] == "worker"
    }
    targets = yaml("ops/deploy/prometheus.yml")["scrape_configs"][0]["static_configs"][0]["targets"]
    ports = {SERVICES[name]["environment"]["AFTERWORD_METRICS_PORT"] for name in worked.values()}
    assert sorted(worked) == sorted(STAGES)
    assert sorted(targets) == sorted(f"{name}:{port}" for name in worked.values() for port in ports)


def test_what_detects_has_no_way_out() -> None:
    assert SERVICES["redaction"]["networks"] == ["data"]
    assert COMPOSE["networks"]["data"] == {"internal": True}


def test_the_generated_secrets_are_those_that_are_mounted() -> None:
    mounted = {name for service in SERVICES.values() for name in service.get("secrets", [])}
    files = {name: Path(secret["file"]) for name, secret in COMPOSE["secrets"].items()}
    assert mounted == files.keys() == fleet_secrets().keys()
    assert {str(file) for file in files.values()} == {f"secrets/{name}" for name in files}
    assert "/secrets/" in (ROOT / ".gitignore").read_text().split()


@pytest.mark.parametrize("name", OURS)
def test_a_service_boots_on_its_settings_and_its_secret(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (secret,) = SERVICES[name]["secrets"]
    (tmp_path / secret).write_text(fleet_secrets()[secret])
    for variable, value in SERVICES[name]["environment"].items():
        monkeypatch.setenv(variable, value)
    assert SERVICES[name]["environment"]["AFTERWORD_SETTINGS"] == f"/run/secrets/{secret}"
    monkeypatch.setenv("AFTERWORD_SETTINGS", str(tmp_path / secret))
    loaded = settings.load()
    assert loaded.database_url
    assert loaded.embedder == "local"


def test_only_migrate_knows_the_superuser() -> None:
    contents = fleet_secrets()
    password = contents["postgres_password"]
    assert {name for name, text in contents.items() if password in text} == {"postgres_password", "migrate.toml"}
    assert {name for name, service in SERVICES.items() if "migrate.toml" in service.get("secrets", [])} == {"migrate"}


@pytest.mark.skipif(importlib.util.find_spec("ops.cli") is None, reason="the command line is not written yet")
@pytest.mark.parametrize("name", [name for name in OURS if "command" in SERVICES[name]])
def test_a_service_runs_a_command_that_exists(name: str) -> None:
    assert wrong_calls([" ".join(SERVICES[name]["command"])], commands()) == []


def test_the_image_copies_what_exists_and_what_is_let_through() -> None:
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    assert {source for source in copied if not (ROOT / source).exists()} == set()
    assert {source for source in copied if not any(source.startswith(path) for path in allowed)} == set()
    assert {f"{package}/" for package in PACKAGES} <= set(copied)


def test_the_image_ends_without_root_and_without_tools_to_build_with() -> None:
    final = DOCKERFILE.split("\nFROM ")[-1]
    user = re.findall(r"^USER (\S+)$", final, re.MULTILINE)[-1]
    assert user == SERVICES["ingest"]["user"]
    assert int(user.partition(":")[0]) > 0
    assert not re.search(r"pip install|apt-get|gcc", final)
    assert re.search(r'^ENTRYPOINT \["afterword"\]$', final, re.MULTILINE)


def test_everything_the_image_installs_is_hashed_or_built_from_the_clone() -> None:
    installs = re.findall(r"\b(?:pip|python) install ([^&\n]+)", DOCKERFILE)
    assert len(installs) == 3
    assert [arguments for arguments in installs if not re.search("--require-hashes|--no-index", arguments)] == []


def test_every_data_file_is_in_the_wheel() -> None:
    globs = project()["tool"]["setuptools"]["package-data"]["*"]
    data = [path.relative_to(ROOT) for path in tracked() if path.relative_to(ROOT).parts[0] in PACKAGES]
    left_out = [str(p) for p in data if p.suffix != ".py" and not any(fnmatch(p.name, glob) for glob in globs)]
    assert [path for path in left_out if not path.startswith("ops/deploy/")] == []
