"""Any model that the extractor may ask, as the adviser: the extractor's client, one question at a time."""

from __future__ import annotations

import asyncio

from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.adapters.pydantic_ai import require, running_loop
from pipeline.extraction.circuit import Circuit
from pipeline.extraction.metering import Meter
from pipeline.outcome import ErrorCode, Skip, Snooze
from pipeline.passes.advice import Answered, Unanswered


class ModelAdviser:
    """The port `Adviser` over one endpoint; raises SettingError where the extra is not installed."""

    def __init__(self, endpoint: Endpoint) -> None:
        require(endpoint.provider)
        self._endpoint = endpoint
        self._circuit = Circuit(cool_down_seconds=endpoint.cool_down_seconds)

    @property
    def provider(self) -> str:
        return self._endpoint.provider

    def ask(self, prompt: str, question: str, meter: Meter) -> Answered | Unanswered:
        from pipeline.extraction.adapters.conversation import Conversations

        with running_loop() as loop:
            conversations = Conversations(self._endpoint, self._circuit, prompt)
            asyncio.run_coroutine_threadsafe(conversations.open(), loop).result()
            try:
                answer = asyncio.run_coroutine_threadsafe(conversations.answer(question, meter), loop).result()
            finally:
                asyncio.run_coroutine_threadsafe(conversations.close(), loop).result()
        if isinstance(answer, tuple):
            return Answered(*answer)
        waits_for_model = isinstance(answer, Snooze) and answer.reason == ErrorCode.MODEL_UNAVAILABLE
        is_admitted = waits_for_model or not isinstance(answer, (Snooze, Skip))
        return Unanswered("unavailable" if is_admitted else "not_admitted")
