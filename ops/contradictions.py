"""What settings may not say together: a table of (setting, when it is wrong, the way out)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ops.settings import Settings


@dataclass(frozen=True, slots=True)
class Contradiction:
    """`holds_for` says whether the settings are wrong; `way_out` follows the setting's name in the message."""

    setting: str
    holds_for: Callable[[Settings], bool]
    way_out: str


def _only_with(address: str, names: list[str]) -> list[Contradiction]:
    """Credentials of a managed server mean nothing to the embedded one, which generates its own."""

    def alone(name: str) -> Callable[[Settings], bool]:
        return lambda settings: getattr(settings, name) is not None and getattr(settings, address) is None

    way_out = (
        f"is for a managed server. Set AFTERWORD_{address.upper()} too, or unset it: "
        "the embedded server generates its own."
    )
    return [Contradiction(name, alone(name), way_out) for name in names]


def _asks_a_model(settings: Settings) -> bool:
    return settings.extractor not in (None, "offline")


_DATABASE_PASSWORDS = [f"database_password_{role}" for role in ("agent", "reviewer", "operator", "worker")]
_REDIS_PASSWORDS = [f"redis_password_{user}" for user in ("emitter", "worker", "limiter")]

CONTRADICTIONS = [
    *_only_with("database_url", ["database_admin_url", *_DATABASE_PASSWORDS]),
    *_only_with("redis_url", _REDIS_PASSWORDS),
    Contradiction(
        "extractor",
        lambda s: s.extractor == "offline" and not s.allow_offline_extractor,
        "is offline, rules without a model. Set AFTERWORD_ALLOW_OFFLINE_EXTRACTOR=true to mean it, or name a model.",
    ),
    Contradiction(
        "extraction_model",
        lambda s: _asks_a_model(s) and s.extraction_model is None,
        "is unset, and AFTERWORD_EXTRACTOR names who is to be asked. Set the model's name there.",
    ),
    Contradiction(
        "extraction_endpoint_class",
        lambda s: _asks_a_model(s) and s.extraction_endpoint_class is None,
        "is unset. Say where the endpoint runs (local, private or cloud): orgs admit endpoints by it.",
    ),
    Contradiction(
        "extraction_api_key",
        lambda s: (
            s.extractor in ("openai", "anthropic", "google") and (s.extraction_api_key or s.extraction_base_url) is None
        ),
        "is unset, and the provider's own endpoint needs it. Set it, or AFTERWORD_EXTRACTION_BASE_URL for another.",
    ),
    Contradiction(
        "extraction_region",
        lambda s: (s.extractor == "bedrock") != (s.extraction_region is not None),
        "names the AWS region for AFTERWORD_EXTRACTOR=bedrock, which needs it; for any other unset it.",
    ),
    Contradiction(
        "extraction_base_url",
        lambda s: (
            s.extractor == "bedrock"
            and s.extraction_api_key is not None
            and (s.extraction_base_url or "").startswith("http://")
        ),
        "is http, and a key of Bedrock goes over https alone. Unset AFTERWORD_EXTRACTION_API_KEY for AWS credentials.",
    ),
    Contradiction(
        "extraction_deadline_seconds",
        lambda s: s.extraction_deadline_seconds >= s.lease_seconds,
        "must be below AFTERWORD_LEASE_SECONDS, or a run is taken over while its model still answers.",
    ),
    Contradiction(
        "embedding_model",
        lambda s: s.embedder in ("openai", "onnx") and s.embedding_model is None,
        "is unset, and AFTERWORD_EMBEDDER=openai or onnx needs the name of a model.",
    ),
    Contradiction(
        "embedding_dimension",
        lambda s: s.embedder in ("openai", "onnx") and s.embedding_dimension is None,
        "is unset. Set the length of the model's vectors: it is part of the stamp.",
    ),
    Contradiction(
        "embedding_api_key",
        lambda s: s.embedder == "openai" and s.embedding_api_key is None and s.embedding_base_url is None,
        "is unset, and OpenAI's own endpoint needs it. Set it, or AFTERWORD_EMBEDDING_BASE_URL for another endpoint.",
    ),
    Contradiction(
        "embedder",
        lambda s: (
            s.embedder in ("local", "none")
            and (s.embedding_model or s.embedding_dimension or s.embedding_query_prefix or s.embedding_passage_prefix)
            is not None
        ),
        "is neither openai nor onnx, so it has its own model. Unset AFTERWORD_EMBEDDING_MODEL, "
        "AFTERWORD_EMBEDDING_DIMENSION, AFTERWORD_EMBEDDING_QUERY_PREFIX and AFTERWORD_EMBEDDING_PASSAGE_PREFIX.",
    ),
    Contradiction(
        "embedding_path",
        lambda s: (s.embedder == "onnx") != (s.embedding_path is not None),
        "is the folder of the model of AFTERWORD_EMBEDDER=onnx, and of no other. Set both or neither.",
    ),
    Contradiction(
        "embedding_sha256",
        lambda s: (s.embedder == "onnx") != (s.embedding_sha256 is not None),
        "is the digest of the model of AFTERWORD_EMBEDDER=onnx, so that no other is run: "
        "cat config.json tokenizer.json *.onnx | sha256sum. Set both or neither.",
    ),
    Contradiction(
        "ner_path",
        lambda s: s.ner == "onnx" and s.ner_path is None,
        "is unset, and AFTERWORD_NER=onnx needs the folder of a model.",
    ),
    Contradiction(
        "ner_sha256",
        lambda s: s.ner == "onnx" and s.ner_sha256 is None,
        "is unset. State the digest of the model, so that no other is run: "
        "cat config.json tokenizer.json *.onnx | sha256sum",
    ),
    Contradiction(
        "ner_languages",
        lambda s: s.ner == "onnx" and s.ner_languages is None,
        "is unset. Name the languages that the model knows, by commas: each has canaries, and for an org that speaks "
        "another nothing covers people and addresses.",
    ),
    Contradiction(
        "ner",
        lambda s: s.ner != "onnx" and (s.ner_path or s.ner_sha256 or s.ner_labels or s.ner_languages) is not None,
        "is not onnx, so it takes no model from a folder. Set AFTERWORD_NER=onnx, or unset AFTERWORD_NER_PATH, "
        "AFTERWORD_NER_SHA256, AFTERWORD_NER_LABELS and AFTERWORD_NER_LANGUAGES.",
    ),
    Contradiction(
        "backoff_first_seconds",
        lambda s: s.backoff_first_seconds > s.backoff_cap_seconds,
        "is above AFTERWORD_BACKOFF_CAP_SECONDS. Lower it, or raise the cap.",
    ),
    Contradiction(
        "witness_dir",
        lambda s: s.witness_dir is not None and s.witness_dir.is_relative_to(s.home / "postgres"),
        "lies inside the database's own folder. The witness must outlive it: name a place outside.",
    ),
]
