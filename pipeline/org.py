"""An org's settings: what its governance has decided. Every change is an entry in the ledger."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from pipeline.redaction.classes import REQUIRED_BY_DEFAULT


class OrgSettings(BaseModel):
    """Off and strict by default: an org that has decided nothing extracts nothing and waives nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extraction: bool = False
    required_classes: frozenset[str] = Field(default_factory=lambda: frozenset(REQUIRED_BY_DEFAULT))
    waived_classes: dict[str, str] = Field(default_factory=dict, description="class -> who waived it")
    activatable_classes: frozenset[str] = Field(
        default=frozenset(), description="LOW classes that may activate when a subject is set"
    )
