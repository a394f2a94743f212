"""The one composition root: settings in, a `Context` of ports out. Nothing else decides which adapter is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from db.tokens import ROLES
from gateway.context import Context as DoorContext
from gateway.context import Limits as DoorLimits
from ops.credentials import database_address, installation_key, redis_address
from ops.settings import Settings
from ops.thresholds import dropping
from pipeline.embedding.port import Embedder
from pipeline.errors import EmbedderUnset, SettingError
from pipeline.extraction.adapters.endpoint import Endpoint, Provider, own_address
from pipeline.extraction.port import Extractor
from pipeline.extraction.prompts import Prompt
from pipeline.intake import Fetch, fetch_nothing
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Detector
from workers.addresses import hosts
from workers.context import Context, Limits
from workers.fetch import DEADLINE_SECONDS, Fetcher

if TYPE_CHECKING:
    from pipeline.passes.advice import Adviser
    from pipeline.redaction.ner.detector import Ner


def context(settings: Settings) -> Context:
    """What a worker process works with. Adapters are made where they work, so a missing model fails there."""
    return Context(
        database=database_address(settings, "worker"),
        redis=redis_address(settings, "worker"),
        extractor=lambda: make_extractor(settings),
        embedder=lambda: make_embedder(settings),
        detectors=make_detectors(settings),
        installation_key=installation_key(settings),
        limits=Limits(
            lease_seconds=settings.lease_seconds,
            attempts_max=settings.attempts_max,
            backoff_first_seconds=settings.backoff_first_seconds,
            backoff_cap_seconds=settings.backoff_cap_seconds,
            batch_size=settings.batch_size,
            drain_seconds=settings.drain_seconds,
            transcript_days=settings.transcript_days,
            rejected_days=settings.rejected_days,
        ),
        dropping=dropping(settings),
        witness=str(settings.witness_dir) if settings.witness_dir else None,
        fetch=make_fetch(settings),
        adviser=lambda: make_adviser(settings),
    )


def door(settings: Settings) -> DoorContext:
    """What the gateway works with: the doors' own logins, never the worker's."""
    return DoorContext(
        databases={role: database_address(settings, role) for role in ROLES},
        emitter=redis_address(settings, "emitter"),
        limiter=redis_address(settings, "limiter"),
        embedder=lambda: make_embedder(settings),
        spool=settings.home / "spool",
        limits=DoorLimits(pool_size=settings.gateway_connections, requests_a_minute=settings.gateway_requests_a_minute),
    )


def make_fetch(settings: Settings) -> Fetch:
    """Where transcripts may be fetched from; below half a lease, so that an entry is not taken over while it waits."""
    if settings.transcript_hosts is None:
        return fetch_nothing
    return Fetcher(hosts(settings.transcript_hosts), min(DEADLINE_SECONDS, settings.lease_seconds / 2))


def make_detectors(settings: Settings) -> tuple[Detector, ...]:
    """The pattern detectors and the model that was chosen, which loads where it works."""
    ner = make_ner(settings)
    return ALL if ner is None else (*ALL, ner)


def verified_detectors(settings: Settings) -> tuple[Detector, ...]:
    """Raises SettingError where the model is missing or not the one that is meant."""
    ner = make_ner(settings)
    if ner is None:
        return ALL
    ner.tagger.verify()
    return (*ALL, ner)


def working_detectors(settings: Settings) -> tuple[Detector, ...]:
    """Those that would work here; for who reports, and does not start anything."""
    try:
        return verified_detectors(settings)
    except SettingError:
        return ALL


def make_ner(settings: Settings) -> Ner | None:
    """None for the stated choice `none`: people and addresses are then nobody's to find."""
    if settings.ner == "none":
        return None
    from pipeline.redaction.adapters.model_files import BUNDLED_SHA256
    from pipeline.redaction.adapters.onnx_tagger import OnnxTagger
    from pipeline.redaction.ner.canaries import known_languages
    from pipeline.redaction.ner.detector import Ner
    from pipeline.redaction.ner.labels import parse

    threads = settings.ner_threads
    if settings.ner == "rampart":
        return Ner(OnnxTagger(None, BUNDLED_SHA256, setting="AFTERWORD_NER=rampart", pack=True, threads=threads))
    assert settings.ner_path is not None
    assert settings.ner_sha256 is not None
    assert settings.ner_languages is not None
    said = parse(settings.ner_labels or "")
    tagger = OnnxTagger(
        settings.ner_path, settings.ner_sha256, setting="AFTERWORD_NER=onnx", said=said, threads=threads
    )
    return Ner(tagger, known_languages(settings.ner_languages))


def make_extractor(settings: Settings, prompt: Prompt | None = None) -> Extractor:
    """A model is asked with `prompt`, else with the current one. Raises SettingError where nothing was chosen."""
    if settings.extractor is None:
        raise SettingError(
            "AFTERWORD_EXTRACTOR is unset: choose openai (and whatever speaks like it), anthropic, google or bedrock, "
            "or offline (rules without a model)."
        )
    return _offline() if settings.extractor == "offline" else _model(settings, Provider(settings.extractor), prompt)


def make_embedder(settings: Settings) -> Embedder | None:
    """None for the stated choice `none`. Raises EmbedderUnset where nothing was chosen."""
    if settings.embedder is None:
        raise EmbedderUnset
    if settings.embedder == "none":
        return None
    if settings.embedder == "local":
        return _local_embedder()
    return _onnx_embedder(settings) if settings.embedder == "onnx" else _openai_embedder(settings)


def make_adviser(settings: Settings) -> Adviser | None:
    """The extractor's model, asked other questions; None where candidates are proposed without one."""
    if settings.extractor in (None, "offline"):
        return None
    from pipeline.passes.adapters.model import ModelAdviser

    return ModelAdviser(_endpoint(settings, Provider(settings.extractor)))


def _model(settings: Settings, provider: Provider, prompt: Prompt | None) -> Extractor:
    from pipeline.extraction.adapters.pydantic_ai import ModelExtractor

    return ModelExtractor(replace(_endpoint(settings, provider), prompt=prompt))


def _endpoint(settings: Settings, provider: Provider) -> Endpoint:
    assert settings.extraction_model is not None
    assert settings.extraction_endpoint_class is not None
    return Endpoint(
        provider=provider,
        model=settings.extraction_model,
        base_url=settings.extraction_base_url or own_address(provider, settings.extraction_region),
        api_key=settings.extraction_api_key.get_secret_value() if settings.extraction_api_key else None,
        region=settings.extraction_region,
        endpoint_class=settings.extraction_endpoint_class,
        answer_form=settings.extraction_answer_form,
        deadline_seconds=settings.extraction_deadline_seconds,
        concurrency=settings.extraction_concurrency,
        cool_down_seconds=settings.extraction_cool_down_seconds,
        window_characters=settings.extraction_window_characters,
    )


def _local_embedder() -> Embedder:
    from pipeline.embedding.adapters.local import LocalEmbedder

    return LocalEmbedder()


def _onnx_embedder(settings: Settings) -> Embedder:
    from pipeline.embedding.adapters.onnx import OnnxEmbedder, OnnxModel

    assert settings.embedding_path is not None
    assert settings.embedding_sha256 is not None
    assert settings.embedding_model is not None
    assert settings.embedding_dimension is not None
    return OnnxEmbedder(
        OnnxModel(
            folder=settings.embedding_path,
            sha256=settings.embedding_sha256,
            name=settings.embedding_model,
            dimension=settings.embedding_dimension,
            pooling=settings.embedding_pooling,
            query_prefix=settings.embedding_query_prefix or "",
            passage_prefix=settings.embedding_passage_prefix or "",
            threads=settings.embedding_threads,
        )
    )


def _openai_embedder(settings: Settings) -> Embedder:
    from pipeline.embedding.adapters.openai import EmbeddingEndpoint, OpenAIEmbedder

    assert settings.embedding_model is not None
    assert settings.embedding_dimension is not None
    key = settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else None
    endpoint = EmbeddingEndpoint(
        model=settings.embedding_model,
        dimension=settings.embedding_dimension,
        api_key=key,
        query_prefix=settings.embedding_query_prefix or "",
        passage_prefix=settings.embedding_passage_prefix or "",
        batch_texts=settings.embedding_batch_texts,
    )
    if settings.embedding_base_url:
        endpoint = replace(endpoint, base_url=settings.embedding_base_url)
    return OpenAIEmbedder(endpoint)


def _offline() -> Extractor:
    from pipeline.extraction.adapters.offline import OfflineExtractor

    return OfflineExtractor()
