"""Any model of the providers of `endpoint.Provider`, through pydantic-ai.

    extract_many --> a loop in a thread --> one conversation a run: ask, parse, at most one repair
                 <-- each outcome as it finishes

Failure handling: where the endpoint says when to come back (429, or Retry-After), and while the circuit is open, the
run waits and spends no attempt; 408, 409, 425, other 5xx, a refused connection and a missed deadline are worth another
try; any other 4xx is refused for good; an answer that is still no envelope after one repair is buried with what was
wrong. The SDKs retry nothing: attempts are the run's, and they are counted there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Thread
from uuid import UUID

from pipeline.errors import SettingError
from pipeline.extraction.adapters.endpoint import Endpoint, Provider
from pipeline.extraction.circuit import Circuit, CircuitState
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome


class ModelExtractor:
    """The port `Extractor` over one endpoint; raises SettingError where the extra is not installed."""

    def __init__(self, endpoint: Endpoint) -> None:
        require(endpoint.provider)
        self._endpoint = endpoint
        self._circuit = Circuit(cool_down_seconds=endpoint.cool_down_seconds)

    @property
    def circuit(self) -> CircuitState:
        return self._circuit.state

    @property
    def provider(self) -> str:
        return self._endpoint.provider

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        """Yields as runs finish; closing the generator cancels what is still asking."""
        from pipeline.extraction.adapters.conversation import Conversations

        with running_loop() as loop:
            conversations = Conversations(self._endpoint, self._circuit)
            asyncio.run_coroutine_threadsafe(conversations.open(), loop).result()
            asked: dict[Future[ExtractionOutcome], UUID] = {
                asyncio.run_coroutine_threadsafe(conversations.extract(job), loop): job.run_id for job in batch
            }
            try:
                for answered in as_completed(asked):
                    yield asked[answered], answered.result()
            finally:
                asyncio.run_coroutine_threadsafe(conversations.close(), loop).result()


def require(provider: Provider) -> None:
    """Raises SettingError, with the command, where the provider's extra is not installed."""
    if not all(_is_there(library) for library in ("pydantic_ai", "genai_prices", _LIBRARIES[provider])):
        raise SettingError(f"this extractor needs a library: pip install 'afterword-server[{provider}]'")


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


_LIBRARIES = {
    Provider.OPENAI: "openai",
    Provider.ANTHROPIC: "anthropic",
    Provider.GOOGLE: "google.genai",
    Provider.BEDROCK: "boto3",
}


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that runs on its own thread, so that a slow consumer never makes a deadline pass."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="extraction-loop", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
