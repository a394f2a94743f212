"""Which model is asked, where, and within what bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.extraction.rendering import WINDOW_CHARACTERS
from pipeline.provenance import EndpointClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model answers. `deadline_seconds` bounds the conversation about one window; keep it below the lease."""

    base_url: str
    model: str
    provider: str = "openai"
    api_key: str | None = field(default=None, repr=False)
    endpoint_class: EndpointClass = EndpointClass.CLOUD
    concurrency: int = 4
    deadline_seconds: float = 120.0
    window_characters: int = WINDOW_CHARACTERS
