"""An org's settings: what its governance has decided. Every change is an entry in the ledger."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator

from pipeline import retention
from pipeline.provenance import EndpointClass
from pipeline.redaction.classes import REQUIRED_BY_DEFAULT
from pipeline.redaction.health import Health

Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
"""ISO 639, lower case: en, pt, yue."""


Consolidating = Literal["near_duplicates", "model", "compaction", "mining", "amendment"]
"""What consolidation does beyond counting what is said again and proposing what a newer fact replaces."""


class OrgSettings(BaseModel):
    """Off and strict by default: an org that has decided nothing extracts nothing and waives nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extraction: bool = False
    languages: frozenset[Language] = Field(
        default=frozenset({"en"}), min_length=1, description="a required class must be covered in each of them"
    )
    required_classes: frozenset[str] = Field(default_factory=lambda: frozenset(REQUIRED_BY_DEFAULT))
    waived_classes: dict[str, str] = Field(default_factory=dict, description="class -> who waived it")
    activatable_classes: frozenset[str] = Field(
        default=frozenset(), description="LOW classes that may activate when a subject is set"
    )
    budget_tokens_a_day: Annotated[StrictInt, Field(ge=0)] | None = Field(
        default=None, description="tokens its model calls may use in a day, UTC; None: no limit"
    )
    budget_usd_a_day: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="the same in US dollars, of calls whose price is known"
    )
    endpoint_classes: frozenset[EndpointClass] = Field(
        default=frozenset({EndpointClass.LOCAL}), description="where models may be that are shown its sessions"
    )
    turns: bool = Field(default=False, description="what is said in a session is searchable too, redacted and gated")
    consolidation: frozenset[Consolidating] = Field(
        default=frozenset(), description="what consolidation does beside the deterministic rules"
    )
    retention: dict[str, StrictInt] = Field(default_factory=dict, description="class of data -> days it is kept")

    @field_validator("retention")
    @classmethod
    def _retention(cls, value: dict[str, int]) -> dict[str, int]:
        return retention.checked(value)

    def uncovered(self, health: Health) -> frozenset[str]:
        """Required classes that nobody waived and that are not covered in each language: `detector_unavailable`."""
        wanted = self.required_classes.difference(self.waived_classes)
        return frozenset(cls for cls in wanted if not health.covers(cls, self.languages))
