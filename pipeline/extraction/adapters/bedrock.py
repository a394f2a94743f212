"""Amazon Bedrock's client: made here, since pydantic-ai's own would try a call five times over."""

from __future__ import annotations

from types import TracebackType

import boto3
import botocore.session
from botocore.config import Config
from botocore.tokens import FrozenAuthToken
from pydantic_ai.providers.bedrock import BedrockProvider

from pipeline.extraction.adapters.endpoint import Endpoint

CONNECT_SECONDS = 5.0


class _Keyed(botocore.session.Session):  # type: ignore[misc]
    """A session that signs with a Bedrock API key, and looks for no other credentials."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key

    def get_auth_token(self, **_: object) -> FrozenAuthToken:
        return FrozenAuthToken(self._key)

    def get_credentials(self, **_: object) -> None:
        return None


class _Provider(BedrockProvider):
    """Closes the client that it was given."""

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        self.client.close()
        return await super().__aexit__(exc_type, exc_val, exc_tb)


def provider(endpoint: Endpoint) -> BedrockProvider:
    """Each call is one request; reading it ends at the deadline, even where nobody waits for it any more."""
    session = boto3.Session(botocore_session=_Keyed(endpoint.api_key) if endpoint.api_key else None)
    client = session.client(
        "bedrock-runtime",
        endpoint_url=endpoint.base_url,
        region_name=endpoint.region,
        config=Config(
            retries={"total_max_attempts": 1},
            signature_version="bearer" if endpoint.api_key else None,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=endpoint.deadline_seconds,
            max_pool_connections=endpoint.concurrency,
        ),
    )
    return _Provider(bedrock_client=client)
