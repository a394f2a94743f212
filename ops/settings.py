"""Every setting of the server, from AFTERWORD_* variables, then the file AFTERWORD_SETTINGS names, then the default.

A setting stands here because something reads it. What is unset stays None where a silent choice would be a guess: the
process that needs it refuses with an error that names it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, PrivateAttr, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from rapidfuzz import process

from ops.contradictions import CONTRADICTIONS
from pipeline.dropping import parse_thresholds
from pipeline.errors import SettingError
from pipeline.extraction.adapters.endpoint import AnswerForm
from pipeline.extraction.rendering import WINDOW_CHARACTERS
from pipeline.provenance import EndpointClass
from pipeline.redaction.ner.canaries import known_languages
from pipeline.redaction.ner.labels import parse
from workers import addresses

PREFIX = "AFTERWORD_"
FILE_VARIABLE = "AFTERWORD_SETTINGS"
Layer = Literal["default", "environment", "file"]


def _default_home() -> Path:
    # Root's own folder is closed to the account that the servers run under.
    return Path("/var/lib/afterword") if os.geteuid() == 0 else Path.home() / ".afterword"


def _address(*schemes: str) -> AfterValidator:
    def check(url: str) -> str:
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise ValueError("must not hold credentials, which have settings of their own")
        if parts.scheme not in schemes:
            raise ValueError(f"must begin with one of {', '.join(scheme + '://' for scheme in schemes)}")
        return url

    return AfterValidator(check)


def _hosts(text: str) -> str:
    addresses.hosts(text)
    return text


def _thresholds(text: str) -> str:
    parse_thresholds(text)
    return text


def _languages(text: str) -> str:
    known_languages(text)
    return text


def _labels(text: str) -> str:
    parse(text)
    return text


ExpandedPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
DatabaseUrl = Annotated[str, _address("postgresql", "postgres")]
RedisUrl = Annotated[str, _address("redis", "rediss", "unix")]
ModelUrl = Annotated[str, _address("https", "http")]
TranscriptHosts = Annotated[str, AfterValidator(_hosts)]
Thresholds = Annotated[str, AfterValidator(_thresholds)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]
Languages = Annotated[str, AfterValidator(_languages)]
Labels = Annotated[str, AfterValidator(_labels)]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]

ExtractorName = Literal["offline", "openai", "anthropic", "google", "bedrock"]


class Settings(BaseSettings):
    """Validated settings. Made by `load`; raises SettingError with the setting's name and the way out."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True, str_min_length=1
    )

    home: ExpandedPath = Field(default_factory=_default_home, description="data, sockets and secrets of this machine")

    database_url: DatabaseUrl | None = Field(None, description="managed Postgres, without credentials; unset: embedded")
    database_admin_url: SecretStr | None = Field(None, description="who migrates a managed Postgres, with credentials")
    database_password_agent: SecretStr | None = Field(None, description="of afterword_agent on a managed Postgres")
    database_password_reviewer: SecretStr | None = Field(None, description="of afterword_reviewer, likewise")
    database_password_operator: SecretStr | None = Field(None, description="of afterword_operator, likewise")
    database_password_worker: SecretStr | None = Field(None, description="of afterword_worker, likewise")
    redis_url: RedisUrl | None = Field(
        None, description="managed Redis or Valkey, without credentials; unset: embedded"
    )
    redis_password_emitter: SecretStr | None = Field(None, description="of the ACL user emitter on a managed Redis")
    redis_password_worker: SecretStr | None = Field(None, description="of the ACL user worker, likewise")
    redis_password_limiter: SecretStr | None = Field(None, description="of the ACL user limiter, likewise")
    installation_key: SecretStr | None = Field(None, description="key of the erasure register; unset: generated once")
    witness_dir: ExpandedPath | None = Field(None, description="seals and erasures are also appended to files here")

    extractor: ExtractorName | None = Field(None, description="who proposes candidates")
    allow_offline_extractor: bool = Field(False, description="admits extractor=offline, rules without a model")
    extraction_model: str | None = Field(None, description="the model's name at its endpoint")
    extraction_endpoint_class: EndpointClass | None = Field(None, description="where the endpoint is, as orgs admit it")
    extraction_deadline_seconds: Seconds = Field(45, description="a model call is given up after this; below the lease")
    extraction_cool_down_seconds: Seconds = Field(30, description="an endpoint that fails is left alone for so long")
    extraction_window_characters: Annotated[int, Field(ge=4_000, le=4_000_000)] = Field(
        WINDOW_CHARACTERS, description="a longer session is read in windows of so many characters, a call each"
    )
    extraction_concurrency: Count = Field(8, description="model calls at a time in one worker")
    extraction_base_url: ModelUrl | None = Field(
        None, description="an endpoint that speaks the extractor's wire format; unset: the provider's own"
    )
    extraction_api_key: SecretStr | None = Field(None, description="its key; for bedrock unset: AWS's own credentials")
    extraction_region: Region | None = Field(None, description="for extractor=bedrock: the AWS region")
    extraction_answer_form: AnswerForm = Field(
        AnswerForm.AUTO,
        description="schema, tool or text: how a model is held to the envelope; auto: as it is known to do",
    )

    embedder: Literal["local", "openai", "onnx", "none"] | None = Field(
        None, description="who embeds; none: runs pass on"
    )
    embedding_model: str | None = Field(None, description="for embedder=openai and onnx: the model's name")
    embedding_dimension: Count | None = Field(None, description="for the same: the length of its vectors")
    embedding_query_prefix: str | None = Field(None, description="for the same: before a question (e5: 'query: ')")
    embedding_passage_prefix: str | None = Field(None, description="before what is to be found (e5: 'passage: ')")
    embedding_path: ExpandedPath | None = Field(
        None, description="for embedder=onnx: config.json, tokenizer.json, one .onnx file"
    )
    embedding_sha256: Sha256 | None = Field(
        None, description="for embedder=onnx: cat of the three, in this order, | sha256sum"
    )
    embedding_pooling: Literal["mean", "cls"] = Field("mean", description="for embedder=onnx: as the model was trained")
    embedding_threads: Count = Field(1, description="for embedder=onnx: cores that the model may use in one process")
    embedding_batch_texts: Count = Field(128, description="for embedder=openai: texts a request, at most")
    embedding_base_url: ModelUrl | None = Field(None, description="an OpenAI-compatible endpoint; unset: OpenAI's own")
    embedding_api_key: SecretStr | None = Field(None, description="its key")

    ner: Literal["rampart", "onnx", "none"] = Field(
        "rampart", description="who finds people and addresses: the bundled model, one in a folder, or nobody"
    )
    ner_path: ExpandedPath | None = Field(None, description="for ner=onnx: config.json, tokenizer.json, one .onnx file")
    ner_sha256: Sha256 | None = Field(None, description="for ner=onnx: cat of the three, in this order, | sha256sum")
    ner_labels: Labels | None = Field(None, description="for ner=onnx: PER=person,LOC=place; unset: the usual names")
    ner_languages: Languages | None = Field(None, description="for ner=onnx: those it knows, by canaries: en,pt,ja")
    ner_threads: Count = Field(1, description="cores that the model may use in one process")

    lease_seconds: Seconds = Field(60, description="a claim lapses after this unless renewed, at a third of it")
    attempts_max: Count = Field(5, description="transient failures before a run is dead")
    backoff_first_seconds: Seconds = Field(5, description="wait after the first transient failure; doubles, jittered")
    backoff_cap_seconds: Seconds = Field(900, description="the longest wait between attempts")
    transcript_hosts: TranscriptHosts | None = Field(
        None, description="host or host:port, by commas, that an event's transcript_url may name; unset: none"
    )
    batch_size: Count = Field(64, description="runs per claim, entries per read of the stream")
    drain_seconds: Seconds = Field(60, description="a bell's job drains at most this long, then rings again")
    transcript_days: Count = Field(30, description="transcripts are purged after this")
    rejected_days: Count = Field(14, description="rejected events are purged after this")

    confidence_thresholds: Thresholds | None = Field(
        None,
        description="PROVIDER/MODEL=NUMBER by commas: candidates stated below it are dropped; needs verdicts first",
    )
    drop_review_basis_points: Annotated[int, Field(ge=1, le=10_000)] = Field(
        1_000, description="the share of drops that a person is asked about; never none"
    )
    backup_days: Count = Field(30, description="backups and archived WAL are kept so long; receipts say so")

    gateway_host: str = Field("127.0.0.1", description="where the HTTP door listens; TLS is a proxy's, in front of it")
    gateway_port: Annotated[int, Field(ge=1, le=65535)] = Field(8440, description="the HTTP door's port")
    gateway_connections: Count = Field(8, description="database connections of each role that the door holds at most")
    gateway_requests_a_minute: Count = Field(600, description="requests of one token in a minute; more are 429")

    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = Field(None, description="Prometheus port; unset: off")
    metrics_host: str = Field("127.0.0.1", description="who reaches /metrics; 0.0.0.0 inside a container network")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="the least level logged")
    log_json: bool = Field(False, description="one JSON object a line, for a collector; else for reading")

    _layers: dict[str, Layer] = PrivateAttr(default_factory=dict)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The file's values come as init arguments and lose to the environment; no .env file is picked up unasked."""
        return env_settings, init_settings

    @model_validator(mode="after")
    def _agree(self) -> Self:
        _refuse_contradictions(self)
        return self


class Explained(NamedTuple):
    """A setting as `afterword check` prints it: name, effective value with secrets masked, where it came from."""

    name: str
    value: str
    layer: Layer


def load() -> Settings:
    """Reads and checks the settings. Raises SettingError."""
    file = _read_file(os.environ.get(FILE_VARIABLE))
    variables = {name for name in os.environ if name.upper().startswith(PREFIX)} - {FILE_VARIABLE}
    from_environment = {name[len(PREFIX) :].lower() for name in variables}
    _refuse_unknown(from_environment, _as_variable)
    _refuse_unknown(file, str)
    try:
        settings = Settings(**file)
    except ValidationError as error:
        raise SettingError(_first_fault(error)) from None
    settings._layers.update(dict.fromkeys(file, "file"))
    settings._layers.update(dict.fromkeys(from_environment, "environment"))
    return settings


def choosing(settings: Settings, extractor: ExtractorName) -> Settings:
    """These settings with another extractor for one call; whoever types `offline` means it. Raises SettingError."""
    chosen = settings.model_copy(update={"extractor": extractor, "allow_offline_extractor": True})
    _refuse_contradictions(chosen)
    return chosen


def _refuse_contradictions(settings: Settings) -> None:
    for rule in CONTRADICTIONS:
        if rule.holds_for(settings):
            raise SettingError(f"{_as_variable(rule.setting)} {rule.way_out}")


def explain(settings: Settings) -> list[Explained]:
    """Each effective value and the layer it came from, in the order of declaration."""
    return [
        Explained(name, _shown(getattr(settings, name)), settings._layers.get(name, "default"))
        for name in Settings.model_fields
    ]


def _shown(value: object) -> str:
    return "unset" if value is None else str(value)  # a SecretStr masks itself


def _read_file(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(Path(path).expanduser().read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SettingError(f"{FILE_VARIABLE} names {path}, which cannot be read: {error}") from None


def _refuse_unknown(names: Iterable[str], spelt: Callable[[str], str]) -> None:
    for name in sorted(set(names) - set(Settings.model_fields)):
        nearest = process.extractOne(name, list(Settings.model_fields))[0]
        raise SettingError(f"{spelt(name)} is no setting. Did you mean {spelt(nearest)}?")


def _as_variable(name: str) -> str:
    return PREFIX + name.upper()


def _first_fault(error: ValidationError) -> str:
    """Names the setting and what is wrong, never the value, which may be a secret."""
    fault = error.errors(include_input=False, include_url=False)[0]
    return f"{_as_variable(str(fault['loc'][0]))}: {fault['msg']}."
