"""Which model is asked, where, in whose wire format, and within what bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pipeline.extraction.prompts import Prompt
from pipeline.extraction.rendering import WINDOW_CHARACTERS
from pipeline.provenance import EndpointClass


class Provider(StrEnum):
    """Whose wire format the endpoint speaks; each is an extra of the same name. Bounds the metric label `provider`."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    BEDROCK = "bedrock"


class AnswerForm(StrEnum):
    """How the model is brought to answer with an envelope; whichever it is, the answer is parsed as strictly.

    `schema`: the provider holds the answer to the envelope's JSON schema. `tool`: the answer is the call of the only
    tool. `text`: the prompt alone says so. `auto`: the first of them that this model is known for.
    """

    AUTO = "auto"
    SCHEMA = "schema"
    TOOL = "tool"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model answers. `deadline_seconds` bounds the conversation about one window; keep it below the lease.
    One that failed too often in a row is left alone for `cool_down_seconds`.

    `prompt`: None asks with the current one. `region` is Bedrock's. Without `api_key`, Bedrock finds AWS credentials
    where AWS tools do; the others send none.
    """

    base_url: str
    model: str
    provider: Provider = Provider.OPENAI
    api_key: str | None = field(default=None, repr=False)
    region: str | None = None
    prompt: Prompt | None = None
    endpoint_class: EndpointClass = EndpointClass.CLOUD
    answer_form: AnswerForm = AnswerForm.AUTO
    concurrency: int = 4
    deadline_seconds: float = 120.0
    cool_down_seconds: float = 30.0
    window_characters: int = WINDOW_CHARACTERS

    @property
    def is_the_providers_own(self) -> bool:
        return self.base_url == own_address(self.provider, self.region)


def own_address(provider: Provider, region: str | None = None) -> str:
    """The provider's own endpoint; Bedrock has one in each region."""
    return _OWN[provider].format(region=region)


_OWN = {
    Provider.OPENAI: "https://api.openai.com/v1",
    Provider.ANTHROPIC: "https://api.anthropic.com",
    Provider.GOOGLE: "https://generativelanguage.googleapis.com",
    Provider.BEDROCK: "https://bedrock-runtime.{region}.amazonaws.com",
}
