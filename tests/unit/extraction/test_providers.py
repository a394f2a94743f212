"""Each provider's own SDK against a server that speaks its wire format: what is asked, and what becomes of answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest

from pipeline.errors import SettingError
from pipeline.extraction import prompts
from pipeline.extraction.adapters import pydantic_ai as adapter
from pipeline.extraction.adapters.endpoint import AnswerForm, Endpoint, Provider, own_address
from pipeline.extraction.adapters.prices import price
from pipeline.extraction.adapters.pydantic_ai import ModelExtractor
from pipeline.extraction.metering import Asked, CallOutcome, Settled, Tokens
from pipeline.extraction.port import ExtractionJob
from pipeline.outcome import Bury, Done, ErrorCode, Retry, Snooze
from pipeline.session import Role, Transcript, Trust, Turn
from tests.doubles.dialects import ANTHROPIC, BEDROCK, GOOGLE, OPENAI, Dialect
from tests.doubles.model_server import Answer, Failure, Garbage, Hang, Line, ModelServer

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
pytest.importorskip("google.genai", reason="the extra `google` is not installed")
pytest.importorskip("boto3", reason="the extra `bedrock` is not installed")

from botocore.exceptions import EndpointConnectionError, InvalidEndpointConfigurationError

from pipeline.extraction.adapters import bedrock

ROOT = UUID("0d0f5c1e-9f0b-4a57-8d21-6a1f6f1b0c55")
TEXT = "The harbour office closes at noon on Thursdays."
GOOD = json.dumps({"candidates": [{
    "content": TEXT, "kind": "fact", "rationale": "Said by the user; written down nowhere.",
    "evidence": [{"turn": 0, "quote": "closes at noon on Thursdays"}], "subject_hint": None, "when": None,
    "confidence": None}]})  # fmt: skip
BAD = '{"candidates": [{"content": "c", "kind": "fact", "rationale": "r", "importance": 5}]}'


@dataclass(frozen=True)
class Case:
    """A provider as it is asked. `schema_at`: where a request holds the schema. `names_model`: if an answer does."""

    provider: Provider
    dialect: Dialect
    model: str
    schema_at: tuple[str, ...]
    key_header: str
    names_model: bool = True
    more: Mapping[str, Any] = field(default_factory=dict)


CASES = [
    Case(Provider.OPENAI, OPENAI, "gpt-4o-mini", ("response_format", "json_schema", "schema"), "Authorization"),
    Case(Provider.ANTHROPIC, ANTHROPIC, "claude-haiku-4-5", ("output_config", "format", "schema"), "Authorization"),
    Case(Provider.GOOGLE, GOOGLE, "gemini-2.5-flash", ("generationConfig", "responseJsonSchema"), "x-goog-api-key"),
    Case(
        Provider.BEDROCK,
        BEDROCK,
        "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        ("outputConfig", "textFormat", "structure", "jsonSchema", "schema"),
        "Authorization",
        names_model=False,
        more={"region": "eu-west-1", "api_key": None},
    ),
]


@pytest.fixture(params=CASES, ids=[case.provider.value for case in CASES])
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-ours")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    return request.param


class Ledger:
    """A meter that writes down."""

    def __init__(self) -> None:
        self.reserved: list[Asked] = []
        self.settled: list[Settled] = []

    def reserve(self, asked: Asked) -> UUID:
        self.reserved.append(asked)
        return uuid5(ROOT, f"call {len(self.reserved)}")

    def settle(self, call: UUID, settled: Settled) -> None:
        self.settled.append(settled)


@dataclass
class Ran:
    outcome: Any
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]
    meter: Ledger


def run(case: Case, script: list[Line], **changes: Any) -> Ran:
    meter = Ledger()
    turn = Turn(role=Role.USER, text=TEXT, trust=Trust.USER)
    job = ExtractionJob(uuid5(ROOT, "run"), Transcript(turns=(turn,)), meter=meter)
    settings = {"api_key": "key-of-ours", "answer_form": AnswerForm.SCHEMA, "deadline_seconds": 10.0,
                **case.more, **changes}  # fmt: skip
    with ModelServer(script, case.dialect) as server:
        endpoint = Endpoint(provider=case.provider, model=case.model, base_url=server.base_url, **settings)
        [(_, outcome)] = list(ModelExtractor(endpoint).extract_many([job]))
    return Ran(outcome, server.requests, server.headers, meter)


def strings(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, Mapping):
        for value in document.values():
            yield from strings(value)
    elif isinstance(document, list):
        for value in document:
            yield from strings(value)


def at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document[name]
    return json.loads(document) if isinstance(document, str) else document


def test_a_good_answer_is_an_envelope_with_its_provenance_and_tokens(case: Case) -> None:
    ran = run(case, [Answer(GOOD, model="answered-by-2")])
    assert isinstance(ran.outcome, Done)
    proposal = ran.outcome.output
    assert [candidate.content for candidate in proposal.envelope.candidates] == [TEXT]
    assert proposal.provenance.provider == case.provider
    assert proposal.provenance.model == ("answered-by-2" if case.names_model else case.model)
    assert (proposal.usage.calls, proposal.usage.input_tokens, proposal.usage.output_tokens) == (1, 100, 10)
    assert [(each.outcome, each.tokens) for each in ran.meter.settled] == [(CallOutcome.ANSWERED, Tokens(100, 10))]


def test_the_request_carries_prompt_record_schema_and_key(case: Case) -> None:
    ran = run(case, [Answer(GOOD)])
    [request], [headers] = ran.requests, ran.headers
    written = list(strings(request))
    assert prompts.load().text in written
    assert any(TEXT in text for text in written)
    schema = at(request, case.schema_at)
    assert schema["properties"]["candidates"]["type"] == "array"
    assert "importance" not in json.dumps(schema)
    sent = {name.lower(): value for name, value in headers.items()}
    assert "key-of-ours" in sent[case.key_header.lower()]


def test_a_key_of_bedrock_signs_and_is_sent_in_clear_to_nobody() -> None:
    [case] = [case for case in CASES if case.provider is Provider.BEDROCK]
    sent: list[Any] = []

    def catch(request: Any, **_: Any) -> None:
        sent.append(request)
        raise EndpointConnectionError(endpoint_url=request.url)

    asked: Any = {"provider": case.provider, "model": case.model, "region": "eu-west-1", "api_key": "k-1"}
    for base_url, reached in ((own_address(Provider.BEDROCK, "eu-west-1"), 1), ("http://127.0.0.1:9", 0)):
        endpoint = Endpoint(base_url=base_url, **asked)
        client = bedrock.provider(endpoint).client
        client.meta.events.register("before-send.bedrock-runtime.Converse", catch)
        sent.clear()
        with pytest.raises((EndpointConnectionError, InvalidEndpointConfigurationError)):
            client.converse(modelId=case.model, messages=[{"role": "user", "content": [{"text": "?"}]}])
        assert [request.headers["Authorization"] for request in sent] == [b"Bearer k-1"] * reached
        client.close()


def test_a_malformed_answer_is_repaired_by_what_was_wrong_and_both_calls_are_paid(case: Case) -> None:
    ran = run(case, [Answer(BAD), Answer(GOOD)])
    assert isinstance(ran.outcome, Done)
    assert ran.outcome.output.usage.calls == len(ran.meter.settled) == len(ran.requests) == 2
    told = list(strings(ran.requests[1]))
    assert any("candidates[0].importance" in text for text in told)
    assert BAD in told


def test_a_second_malformed_answer_buries(case: Case) -> None:
    ran = run(case, [Answer(BAD)])
    assert isinstance(ran.outcome, Bury)
    assert ran.outcome.code is ErrorCode.MALFORMED_ENVELOPE
    assert len(ran.requests) == 2


def test_an_answer_cut_at_its_limit_is_told_so(case: Case) -> None:
    ran = run(case, [Answer(GOOD[:60], is_cut=True), Answer(GOOD)])
    assert isinstance(ran.outcome, Done)
    assert any("cut at the model's limit" in text for text in strings(ran.requests[1]))


@pytest.mark.parametrize(
    "line", [Failure(429, retry_after="7", code="slow_down"), Failure(503, retry_after="7", code="overloaded")]
)
def test_a_fault_with_retry_after_waits_as_long_and_is_tried_once(case: Case, line: Failure) -> None:
    began = datetime.now(UTC)
    ran = run(case, [line], cool_down_seconds=2.0)
    assert isinstance(ran.outcome, Snooze)
    assert ran.outcome.reason == "model_unavailable"
    assert timedelta(seconds=7) <= ran.outcome.until - began <= timedelta(seconds=7 + 1 + 10)
    assert len(ran.requests) == 1, "the SDK tries nothing again"
    assert [(each.outcome, each.tokens) for each in ran.meter.settled] == [(CallOutcome.UNAVAILABLE, Tokens(0, 0))]


@pytest.mark.parametrize("line", [Failure(500), Failure(502), Failure(529), Garbage()])
def test_a_passing_fault_is_tried_once(case: Case, line: Line) -> None:
    ran = run(case, [line])
    assert isinstance(ran.outcome, Retry)
    assert ran.outcome.code is ErrorCode.MODEL_UNAVAILABLE
    assert len(ran.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_buried(case: Case, status: int) -> None:
    ran = run(case, [Failure(status)])
    assert isinstance(ran.outcome, Bury)
    assert ran.outcome.code is ErrorCode.MODEL_REFUSED
    assert "as scripted" not in ran.outcome.detail


def test_a_missed_deadline_ends_the_wait(case: Case) -> None:
    began = time.monotonic()
    ran = run(case, [Hang()], deadline_seconds=0.5)
    assert isinstance(ran.outcome, Retry)
    assert time.monotonic() - began < 6
    assert [each.outcome for each in ran.meter.settled] == [CallOutcome.TIMED_OUT]


def test_a_model_known_for_no_schema_calls_a_tool_or_writes(case: Case) -> None:
    for form in (AnswerForm.TOOL, AnswerForm.TEXT):
        if form is AnswerForm.TOOL and case.provider not in (Provider.OPENAI, Provider.ANTHROPIC):
            continue
        ran = run(case, [Answer(BAD), Answer(GOOD)], answer_form=form)
        assert isinstance(ran.outcome, Done)
        assert ("tools" in ran.requests[0]) == (form is AnswerForm.TOOL)
        assert any("candidates[0].importance" in text for text in strings(ran.requests[1]))


@pytest.mark.parametrize(
    ("provider", "model", "asks_for"),
    [
        (Provider.ANTHROPIC, "claude-haiku-4-5", "output_config"),
        (Provider.ANTHROPIC, "claude-3-5-haiku-latest", "tools"),
        (Provider.OPENAI, "gpt-4o-mini", None),
    ],
)
def test_left_alone_a_model_is_asked_as_it_is_known_to_answer(provider: Provider, model: str, asks_for: str) -> None:
    """Nothing beyond the prompt where the server is one that merely speaks like OpenAI's."""
    [dialect] = [case.dialect for case in CASES if case.provider is provider]
    ran = run(Case(provider, dialect, model, (), ""), [Answer(GOOD)], answer_form=AnswerForm.AUTO)
    assert isinstance(ran.outcome, Done)
    asked = {"output_config", "tools", "response_format"} & set(ran.requests[0])
    assert asked == ({asks_for} if asks_for else set())


@pytest.mark.parametrize("provider", list(Provider))
def test_a_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch, provider: Provider) -> None:
    missing = {Provider.GOOGLE: "google.genai", Provider.BEDROCK: "boto3"}.get(provider, provider.value)
    real = adapter.find_spec

    def find(name: str) -> object:
        if name == missing:
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr(adapter, "find_spec", find)
    with pytest.raises(SettingError, match=rf"pip install 'afterword-server\[{provider.value}\]'"):
        ModelExtractor(Endpoint(provider=provider, model="m", base_url="http://127.0.0.1:1"))


@pytest.mark.parametrize("case_", CASES, ids=[case.provider.value for case in CASES])
def test_a_price_is_known_at_the_providers_own_endpoint_alone(case_: Case) -> None:
    own = own_address(case_.provider, "eu-west-1")
    for base_url, known in ((own, True), ("http://127.0.0.1:9", False)):
        endpoint = Endpoint(provider=case_.provider, model=case_.model, base_url=base_url, region="eu-west-1")
        found = price(endpoint, case_.model, Tokens(1_000_000, 0))
        assert (found is not None and found > 0) if known else found is None
