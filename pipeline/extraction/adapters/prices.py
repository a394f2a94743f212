"""What a call costs in US dollars, from the table that the library `genai-prices` carries; nothing is fetched.

A price is known for a provider's own endpoint alone: a private or local endpoint answers under the same model names and
is paid for otherwise. An unknown price is None, never zero.
"""

from __future__ import annotations

from decimal import Decimal

from genai_prices import Usage, calc_price

from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.metering import Tokens
from pipeline.provenance import EndpointClass


def price(endpoint: Endpoint, model: str, tokens: Tokens) -> Decimal | None:
    """US dollars for these tokens of `model` as the endpoint names it; None where the table has no price."""
    if endpoint.endpoint_class is not EndpointClass.CLOUD:
        return None
    usage = Usage(input_tokens=tokens.input, output_tokens=tokens.output)
    try:
        return calc_price(usage, model, provider_api_url=endpoint.base_url).total_price
    except LookupError:
        return None
