"""A run's conversations with a model, one about each window of its session: ask, parse strictly, tell it once what was
wrong, and name what became of it. The first window that fails ends the run's extraction: no half envelope.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, UserPromptPart

from pipeline.candidate import Envelope
from pipeline.errors import MalformedEnvelope
from pipeline.extraction import envelope, prompts
from pipeline.extraction.adapters import answers, failures
from pipeline.extraction.adapters.endpoint import AnswerForm, Endpoint
from pipeline.extraction.adapters.models import connect
from pipeline.extraction.adapters.prices import price
from pipeline.extraction.circuit import Circuit
from pipeline.extraction.merging import merge
from pipeline.extraction.metering import Asked, CallOutcome, Meter, Settled, Tokens
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal, Usage
from pipeline.extraction.rendering import windows
from pipeline.outcome import Bury, Done, ErrorCode, Retry, Skip, Snooze
from pipeline.provenance import Provenance
from pipeline.recall.block import estimated_tokens

MAX_REPAIRS = 1
OUTPUT_TOKENS_RESERVED = 2_000
"""A dozen candidates of some 150 tokens; what was used is counted once it is known."""


T = TypeVar("T")
EXTRACTION = "extraction"
"""The one prompt whose answer has a schema: an envelope."""


class Unpaid(Exception):
    """The meter refused a call; `outcome` says what that makes of the run."""

    def __init__(self, outcome: Snooze | Skip) -> None:
        super().__init__()
        self.outcome = outcome


class Conversations:
    """All conversations of a batch: one client, one prompt, one limit on how many ask at a time."""

    def __init__(self, endpoint: Endpoint, circuit: Circuit, prompt: str = EXTRACTION) -> None:
        self._endpoint, self._circuit = endpoint, circuit
        self._prompt = (endpoint.prompt if prompt == EXTRACTION else None) or prompts.load(prompt)
        self._model, self._settings = connect(endpoint)
        wanted = answers.form(endpoint, self._model) if prompt == EXTRACTION else AnswerForm.TEXT
        self._asking = answers.parameters(wanted)
        self._places = asyncio.Semaphore(endpoint.concurrency)

    async def open(self) -> None:
        await self._model.__aenter__()

    async def extract(self, job: ExtractionJob) -> ExtractionOutcome:
        """What became of the run; raises nothing but cancellation."""
        if job.meter is None:
            return Bury(ErrorCode.INTERNAL, "nobody pays for this run's model calls")
        read: list[tuple[Envelope, list[ModelResponse]]] = []
        began = time.perf_counter()
        for record in windows(job, self._endpoint.window_characters):
            outcome = await self._read(job.run_id, record, job.meter)
            if not isinstance(outcome, tuple):
                return outcome
            read.append(outcome)
        try:
            proposed = merge([envelope for envelope, _ in read])
        except MalformedEnvelope as wrong:
            return Bury(ErrorCode.MALFORMED_ENVELOPE, str(wrong))
        given = [answer for _, said in read for answer in said]
        return Done(self._proposal(proposed, given, time.perf_counter() - began))

    async def _read(
        self, run: UUID, record: str, meter: Meter
    ) -> tuple[Envelope, list[ModelResponse]] | Retry | Bury | Snooze | Skip:
        """What the model proposes of one window, and its answers; or what that makes of the run."""
        return await self._bounded(run, lambda: self._converse(record, meter))

    async def answer(self, question: str, meter: Meter) -> tuple[str, Provenance] | Retry | Bury | Snooze | Skip:
        """One answer as it stands, nothing parsed and nothing repaired."""
        return await self._bounded(UUID(int=0), lambda: self._answer(question, meter))

    async def _answer(self, question: str, meter: Meter) -> tuple[str, Provenance]:
        messages: list[ModelMessage] = [
            ModelRequest(parts=[SystemPromptPart(self._prompt.text), UserPromptPart(question)])
        ]
        written = estimated_tokens(self._prompt.text) + estimated_tokens(question)
        said = await self._ask(meter, messages, written)
        return answers.said(said), self._provenance(said.model_name or self._endpoint.model)

    async def _bounded(self, run: UUID, ask: Callable[[], Coroutine[Any, Any, T]]) -> T | Retry | Bury | Snooze | Skip:
        """By the places, the circuit and the deadline of the endpoint; whatever goes wrong has a name."""
        async with self._places:
            if wait := self._circuit.admit(time.monotonic()):
                return self._waits(run, wait)
            try:
                async with asyncio.timeout(self._endpoint.deadline_seconds):
                    answered = await ask()
            except Unpaid as refused:
                self._circuit.abandoned()
                return refused.outcome
            except TimeoutError:
                return self._unavailable(run, failures.timeout(self._endpoint.deadline_seconds))
            except AgentRunError as error:
                return self._unavailable(run, failures.failure(error, self._endpoint.cool_down_seconds))
            except Exception as error:  # the port raises nothing; the type says enough, the message may hold content
                self._circuit.abandoned()
                return Retry(ErrorCode.INTERNAL, f"{type(error).__name__} while asking the model")
            except BaseException:
                self._circuit.abandoned()
                raise
            self._circuit.answered()
            return answered

    def _unavailable(self, run: UUID, failed: Retry | Bury) -> Retry | Bury | Snooze:
        if isinstance(failed, Bury):
            self._circuit.answered()
            return failed
        self._circuit.failed(time.monotonic(), failed.after_seconds)
        return failed if failed.after_seconds is None else self._waits(run, failed.after_seconds)

    def _waits(self, run: UUID, seconds: float) -> Snooze:
        """Up to half a cool-down longer, by the run's own id, so that not all that wait come back as one."""
        longer = self._endpoint.cool_down_seconds / 2 * (run.int % 1_000) / 1_000
        return Snooze(datetime.now(UTC) + timedelta(seconds=seconds + longer), ErrorCode.MODEL_UNAVAILABLE)

    async def close(self) -> None:
        """Cancels what is still asking, then closes the client."""
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        await self._model.__aexit__(None, None, None)

    async def _converse(self, record: str, meter: Meter) -> tuple[Envelope, list[ModelResponse]] | Bury:
        messages: list[ModelMessage] = [
            ModelRequest(parts=[SystemPromptPart(self._prompt.text), UserPromptPart(record)])
        ]
        written = estimated_tokens(self._prompt.text) + estimated_tokens(record)
        said: list[ModelResponse] = []
        for repairs_left in range(MAX_REPAIRS, -1, -1):
            said.append(await self._ask(meter, messages, written))
            try:
                return envelope.parse(answers.text(said[-1]), self._prompt.canaries), said
            except MalformedEnvelope as wrong:
                if not repairs_left:
                    return Bury(ErrorCode.MALFORMED_ENVELOPE, str(wrong))
                messages += answers.repair(said[-1], str(wrong))
                written += estimated_tokens(answers.said(said[-1])) + estimated_tokens(str(wrong))
        raise AssertionError("unreachable: the last attempt returns")

    async def _ask(self, meter: Meter, messages: list[ModelMessage], written: int) -> ModelResponse:
        """One call of `written` tokens, reserved before it and settled after it, whatever becomes of it."""
        call = await asyncio.to_thread(meter.reserve, self._asked(written))
        if not isinstance(call, UUID):
            raise Unpaid(call)
        began = time.perf_counter()
        settled = Settled(CallOutcome.TIMED_OUT)
        try:
            answer = await model_request(
                self._model, messages, model_settings=self._settings, model_request_parameters=self._asking
            )
            settled = self._settled(answer)
            return answer
        except AgentRunError as error:
            settled = failures.settled(error)
            raise
        finally:
            seconds = time.perf_counter() - began
            await asyncio.to_thread(meter.settle, call, replace(settled, latency_seconds=seconds))

    def _asked(self, written: int) -> Asked:
        tokens = Tokens(written, OUTPUT_TOKENS_RESERVED)
        model = self._endpoint.model
        return Asked(self._provenance(model), tokens, price(self._endpoint, model, tokens))

    def _settled(self, answer: ModelResponse) -> Settled:
        model = answer.model_name or self._endpoint.model
        if not answer.usage.total_tokens:
            return Settled(CallOutcome.ANSWERED, model)
        tokens = Tokens(answer.usage.input_tokens, answer.usage.output_tokens)
        return Settled(CallOutcome.ANSWERED, model, tokens, price(self._endpoint, model, tokens))

    def _provenance(self, model: str) -> Provenance:
        return Provenance(
            provider=self._endpoint.provider,
            model=model,
            endpoint_class=self._endpoint.endpoint_class,
            prompt_revision=self._prompt.revision,
        )

    def _proposal(self, proposed: Envelope, given: list[ModelResponse], latency_seconds: float) -> Proposal:
        usage = Usage(
            calls=len(given),
            input_tokens=sum(answer.usage.input_tokens for answer in given),
            output_tokens=sum(answer.usage.output_tokens for answer in given),
            latency_seconds=latency_seconds,
        )
        return Proposal(proposed, self._provenance(given[-1].model_name or self._endpoint.model), usage)
