"""Who proposed this: recorded with every candidate, never obeyed."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class EndpointClass(StrEnum):
    """Where a model runs, as far as an org's rules care."""

    LOCAL = "local"
    PRIVATE = "private"
    CLOUD = "cloud"


class Provenance(BaseModel):
    """Provider, model as answered, endpoint class and prompt revision of an envelope."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    provider: str
    model: str
    endpoint_class: EndpointClass
    prompt_revision: str
