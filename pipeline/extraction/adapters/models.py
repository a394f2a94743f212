"""A client of each provider's own SDK behind pydantic-ai's one `Model`: none of them tries anything a second time.

Nothing is taken from the environment that the endpoint does not name, but AWS credentials where there is no key.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from pipeline.extraction.adapters.endpoint import Endpoint, Provider

NO_KEY = "none"
"""Sent where an endpoint asks for none; the SDKs refuse to be without."""

CLAUDE_OUTPUT_TOKENS_MAX = 16_000
"""Of Claude a bound is asked for; without one, or above some 21,000, what is long is streamed. An envelope of forty
candidates has 6,000; thinking counts too."""


def connect(endpoint: Endpoint) -> tuple[Model, ModelSettings]:
    """The model, to be entered and left, and what goes with every request of it."""
    return _CONNECT[endpoint.provider](endpoint)


def _openai(endpoint: Endpoint) -> tuple[Model, ModelSettings]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider("openai", base_url=endpoint.base_url, api_key=endpoint.api_key)
    return OpenAIChatModel(endpoint.model, provider=provider), _once(endpoint)


def _anthropic(endpoint: Endpoint) -> tuple[Model, ModelSettings]:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=endpoint.api_key or NO_KEY, base_url=endpoint.base_url)
    settings = ModelSettings(**_once(endpoint), max_tokens=CLAUDE_OUTPUT_TOKENS_MAX)
    return AnthropicModel(endpoint.model, provider=provider), settings


def _google(endpoint: Endpoint) -> tuple[Model, ModelSettings]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=endpoint.api_key or NO_KEY, base_url=endpoint.base_url)
    return GoogleModel(endpoint.model, provider=provider), _once(endpoint)


def _bedrock(endpoint: Endpoint) -> tuple[Model, ModelSettings]:
    from pydantic_ai.models.bedrock import BedrockConverseModel

    from pipeline.extraction.adapters.bedrock import provider

    bound = ModelSettings(max_tokens=CLAUDE_OUTPUT_TOKENS_MAX) if "anthropic." in endpoint.model else ModelSettings()
    return BedrockConverseModel(endpoint.model, provider=provider(endpoint)), bound


def _once(endpoint: Endpoint) -> ModelSettings:
    return ModelSettings(max_retries=0, timeout=endpoint.deadline_seconds)


_CONNECT: dict[Provider, Callable[[Endpoint], tuple[Model, ModelSettings]]] = {
    Provider.OPENAI: _openai,
    Provider.ANTHROPIC: _anthropic,
    Provider.GOOGLE: _google,
    Provider.BEDROCK: _bedrock,
}
