from __future__ import annotations

from pathlib import Path

import pytest

from ops.contradictions import CONTRADICTIONS
from ops.settings import Settings, explain, load
from pipeline.errors import SettingError
from pipeline.provenance import EndpointClass


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in list(os.environ):
        if name.upper().startswith("AFTERWORD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))


def given(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"AFTERWORD_{name.upper()}", value)


def in_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    file = tmp_path / "afterword.toml"
    file.write_text(text)
    monkeypatch.setenv("AFTERWORD_SETTINGS", str(file))


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    settings = load()
    assert settings.home == tmp_path
    assert settings.extractor is None
    assert settings.embedder is None


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("AFTERWORD_EXTRACTER", "AFTERWORD_EXTRACTOR"),
        ("AFTERWORD_LEASE_SECOND", "AFTERWORD_LEASE_SECONDS"),
        ("AFTERWORD_DATABASE_PASSWD_AGENT", "AFTERWORD_DATABASE_PASSWORD_AGENT"),
        ("AFTERWORD_REDISURL", "AFTERWORD_REDIS_URL"),
        ("afterword_embeder", "AFTERWORD_EMBEDDER"),
    ],
)
def test_a_misspelt_variable_is_refused_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, name: str, nearest: str
) -> None:
    monkeypatch.setenv(name, "hunter2")
    with pytest.raises(SettingError, match=f"Did you mean {nearest}\\?") as refusal:
        load()
    assert "hunter2" not in str(refusal.value)


def test_a_misspelt_key_in_the_file_is_refused_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_file(monkeypatch, tmp_path, "drain_second = 5\n")
    with pytest.raises(SettingError, match=r"drain_second is no setting. Did you mean drain_seconds\?"):
        load()


@pytest.mark.parametrize("text", ["lease_seconds = ", None])
def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None) -> None:
    in_file(monkeypatch, tmp_path, text or "")
    if text is None:
        (tmp_path / "afterword.toml").unlink()
    with pytest.raises(SettingError, match=r"AFTERWORD_SETTINGS names .*afterword\.toml"):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lease_seconds", "soon"),
        ("lease_seconds", "0"),
        ("attempts_max", "0"),
        ("batch_size", "-1"),
        ("extractor", "hal"),
        ("extractor", ""),
        ("extraction_model", ""),
        ("embedder", "fake"),
        ("metrics_port", "70000"),
        ("log_level", "loud"),
        ("database_url", "postgresql://ada:hunter2@db/afterword"),
        ("database_url", "mysql://db/afterword"),
        ("redis_url", "redis://:hunter2@cache:6379"),
        ("redis_url", "http://cache"),
        ("extraction_base_url", "https://me:hunter2@models"),
        ("extraction_base_url", "models.local/v1"),
        ("extraction_endpoint_class", "moon"),
        ("extraction_region", "Ireland"),
        ("extraction_answer_form", "prose"),
        ("transcript_hosts", "https://me:hunter2@files.example"),
        ("transcript_hosts", "*.example"),
    ],
)
def test_a_wrong_value_is_refused_by_name_without_being_quoted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    given(monkeypatch, **{name: value})
    with pytest.raises(SettingError, match=f"^AFTERWORD_{name.upper()}: ") as refusal:
        load()
    assert "hunter2" not in str(refusal.value)


ASKED = {"extraction_model": "m", "extraction_endpoint_class": "cloud"}
MODEL = {"extractor": "openai", "extraction_api_key": "k", **ASKED}
BEDROCK = {"extractor": "bedrock", "extraction_region": "eu-west-1", **ASKED}
EMBEDDING = {"embedder": "openai", "embedding_model": "m", "embedding_dimension": "384", "embedding_api_key": "k"}
EMBEDDING_FOLDER = {
    "embedder": "onnx", "embedding_model": "m", "embedding_dimension": "8", "embedding_path": "/srv/e5",
    "embedding_sha256": "0" * 64,
}  # fmt: skip
FOLDER = {"ner": "onnx", "ner_path": "/srv/model", "ner_sha256": "0" * 64, "ner_languages": "en,ja"}


def without(values: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in values.items() if key != name}


CONTRADICTORY = [
    ("database_admin_url", {"database_admin_url": "postgresql://a:b@db/x"}),
    ("database_password_agent", {"database_password_agent": "p"}),
    ("database_password_reviewer", {"database_password_reviewer": "p"}),
    ("database_password_operator", {"database_password_operator": "p"}),
    ("database_password_worker", {"database_password_worker": "p"}),
    ("redis_password_emitter", {"redis_password_emitter": "p"}),
    ("redis_password_worker", {"redis_password_worker": "p"}),
    ("redis_password_limiter", {"redis_password_limiter": "p"}),
    ("extractor", {"extractor": "offline"}),
    ("extraction_model", without(MODEL, "extraction_model")),
    ("extraction_endpoint_class", without(MODEL, "extraction_endpoint_class")),
    ("extraction_api_key", without(MODEL, "extraction_api_key")),
    ("extraction_api_key", without(MODEL, "extraction_api_key") | {"extractor": "anthropic"}),
    ("extraction_api_key", without(MODEL, "extraction_api_key") | {"extractor": "google"}),
    ("extraction_model", without(BEDROCK, "extraction_model")),
    ("extraction_region", without(BEDROCK, "extraction_region")),
    ("extraction_region", MODEL | {"extraction_region": "eu-west-1"}),
    ("extraction_base_url", BEDROCK | {"extraction_api_key": "k", "extraction_base_url": "http://127.0.0.1:9"}),
    ("extraction_deadline_seconds", {"extraction_deadline_seconds": "60"}),
    ("embedding_model", without(EMBEDDING, "embedding_model")),
    ("embedding_dimension", without(EMBEDDING, "embedding_dimension")),
    ("embedding_api_key", without(EMBEDDING, "embedding_api_key")),
    ("embedder", {"embedder": "local", "embedding_model": "m"}),
    ("embedder", {"embedder": "none", "embedding_dimension": "384"}),
    ("embedder", {"embedder": "local", "embedding_query_prefix": "query: "}),
    ("embedding_model", without(EMBEDDING_FOLDER, "embedding_model")),
    ("embedding_dimension", without(EMBEDDING_FOLDER, "embedding_dimension")),
    ("embedding_path", without(EMBEDDING_FOLDER, "embedding_path")),
    ("embedding_path", EMBEDDING | {"embedding_path": "/srv/e5"}),
    ("embedding_sha256", without(EMBEDDING_FOLDER, "embedding_sha256")),
    ("embedding_sha256", EMBEDDING | {"embedding_sha256": "0" * 64}),
    ("ner_path", without(FOLDER, "ner_path")),
    ("ner_sha256", without(FOLDER, "ner_sha256")),
    ("ner_languages", without(FOLDER, "ner_languages")),
    ("ner", {"ner_labels": "PER=person"}),
    ("ner", {"ner": "none", "ner_path": "/srv/model"}),
    ("backoff_first_seconds", {"backoff_first_seconds": "10", "backoff_cap_seconds": "9"}),
    ("witness_dir", {"home": "/srv/afterword", "witness_dir": "/srv/afterword/postgres/witness"}),
]


@pytest.mark.parametrize(("name", "values"), CONTRADICTORY)
def test_a_contradiction_names_its_setting(monkeypatch: pytest.MonkeyPatch, name: str, values: dict[str, str]) -> None:
    given(monkeypatch, **values)
    with pytest.raises(SettingError, match=f"^AFTERWORD_{name.upper()} "):
        load()


def test_every_contradiction_has_its_case() -> None:
    assert {rule.setting for rule in CONTRADICTIONS} == {name for name, _ in CONTRADICTORY}


@pytest.mark.parametrize(
    "values",
    [
        MODEL,
        MODEL | {"extractor": "anthropic"},
        MODEL | {"extractor": "google", "extraction_answer_form": "text"},
        BEDROCK,
        BEDROCK | {"extraction_region": "us-gov-west-1", "extraction_api_key": "k"},
        EMBEDDING,
        EMBEDDING | {"embedding_query_prefix": "query: ", "embedding_passage_prefix": "passage: "},
        EMBEDDING_FOLDER,
        without(MODEL, "extraction_api_key") | {"extraction_base_url": "http://127.0.0.1:8000/v1"},
        {"extractor": "offline", "allow_offline_extractor": "true"},
        {"embedder": "local"},
        {"embedder": "none"},
        FOLDER,
        FOLDER | {"ner_labels": "PER=person,LOC=place", "ner_threads": "2"},
        {"database_url": "postgresql://db:5432/afterword", "database_password_agent": "p"},
        {"redis_url": "rediss://cache:6379/0", "redis_password_worker": "p"},
        {"extraction_deadline_seconds": "90", "lease_seconds": "91"},
    ],
)
def test_what_agrees_is_accepted(monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    given(monkeypatch, **values)
    explained = {name: layer for name, _, layer in explain(load())}
    assert {explained[name] for name in values} == {"environment"}


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_file(monkeypatch, tmp_path, "lease_seconds = 90\nbatch_size = 7\n")
    given(monkeypatch, lease_seconds="80")
    shown = {name: (value, layer) for name, value, layer in explain(load())}
    assert shown["lease_seconds"] == ("80.0", "environment")
    assert shown["batch_size"] == ("7", "file")
    assert shown["attempts_max"] == ("5", "default")
    assert shown["extractor"] == ("unset", "default")


def test_secrets_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    given(
        monkeypatch,
        database_url="postgresql://db/afterword",
        database_admin_url="postgresql://ada:hunter2@db/afterword",
        database_password_worker="hunter2",
        redis_url="redis://cache",
        redis_password_limiter="hunter2",
        installation_key="hunter2",
        extraction_api_key="hunter2",
        embedding_api_key="hunter2",
    )
    settings = load()
    assert "hunter2" not in f"{explain(settings)} {settings!r}"
    assert {name for name, value, _ in explain(settings) if value == "**********"} == {
        "database_admin_url",
        "database_password_worker",
        "redis_password_limiter",
        "installation_key",
        "extraction_api_key",
        "embedding_api_key",
    }


def test_each_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_values_have_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, **MODEL, witness_dir="~/witness")
    settings = load()
    assert settings.extraction_endpoint_class is EndpointClass.CLOUD
    assert settings.witness_dir == Path.home() / "witness"
