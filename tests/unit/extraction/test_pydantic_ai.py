"""The model adapter against a real HTTP endpoint that answers by script."""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import pytest

from pipeline.errors import SettingError
from pipeline.extraction import prompts
from pipeline.extraction.adapters import pydantic_ai as adapter
from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.adapters.prices import price
from pipeline.extraction.adapters.pydantic_ai import ModelExtractor
from pipeline.extraction.circuit import FAILURES_MAX, CircuitState
from pipeline.extraction.metering import Asked, CallOutcome, Meter, Settled, Tokens
from pipeline.extraction.port import ExtractionJob
from pipeline.outcome import Bury, Done, ErrorCode, Retry, Skip, SkipReason, Snooze
from pipeline.provenance import EndpointClass
from pipeline.session import Role, Transcript, Trust, Turn
from tests.doubles.model_server import Answer, Failure, Garbage, Hang, Line, ModelServer

pytest.importorskip("openai", reason="the extra `openai` is not installed")

ROOT = UUID("6f0a3c52-1b7e-4f1e-9a51-0f4f4f1d2c11")
GOOD = json.dumps(
    {
        "candidates": [
            {
                "content": "Nightly exports go to the Lisbon archive because the Porto one is full.",
                "kind": "fact",
                "rationale": "Said by the user; written down nowhere.",
                "evidence": [{"turn": 0, "quote": "exports go to the Lisbon archive"}],
            }
        ]
    }
)
EMPTY = '{"candidates": []}'
EXTRA = '{"candidates": [{"content": "c", "kind": "fact", "rationale": "r", "importance": 5}]}'


class Ledger:
    """A meter that writes down; with `answer` it refuses every call."""

    def __init__(self, answer: Snooze | Skip | None = None) -> None:
        self.reserved: list[Asked] = []
        self.settled: list[Settled] = []
        self._answer = answer

    def reserve(self, asked: Asked) -> UUID | Snooze | Skip:
        self.reserved.append(asked)
        return self._answer or uuid5(ROOT, f"call {len(self.reserved)}")

    def settle(self, call: UUID, settled: Settled) -> None:
        assert call == uuid5(ROOT, f"call {len(self.settled) + 1}")
        self.settled.append(settled)


def job(
    number: int = 0,
    text: str = "Nightly exports go to the Lisbon archive because the Porto one is full.",
    meter: Meter | None = None,
) -> ExtractionJob:
    turn = Turn(role=Role.USER, text=text, trust=Trust.USER)
    return ExtractionJob(uuid5(ROOT, str(number)), Transcript(turns=(turn,)), meter=meter or Ledger())


def extractor(base_url: str, **changes: object) -> ModelExtractor:
    settings: dict[str, object] = {"base_url": base_url, "model": "asked-for", "deadline_seconds": 5.0, **changes}
    return ModelExtractor(Endpoint(**settings))  # type: ignore[arg-type]


def run_one(script: list, **changes: object):
    with ModelServer(script) as server:
        [(run_id, outcome)] = list(extractor(server.base_url, **changes).extract_many([job()]))
    assert run_id == job().run_id
    return outcome, server.requests


@pytest.mark.parametrize(
    ("text", "count"), [(GOOD, 1), (f"```json\n{GOOD}\n```", 1), (EMPTY, 0)], ids=["bare", "fenced", "empty envelope"]
)
def test_an_envelope_is_done_in_one_call(text: str, count: int) -> None:
    outcome, requests = run_one([Answer(text, model="answered-by-2")], endpoint_class=EndpointClass.PRIVATE)
    assert isinstance(outcome, Done)
    proposal = outcome.output
    assert len(proposal.envelope.candidates) == count
    assert (proposal.provenance.provider, proposal.provenance.model) == ("openai", "answered-by-2")
    assert proposal.provenance.endpoint_class is EndpointClass.PRIVATE
    assert proposal.provenance.prompt_revision == prompts.load().revision
    assert (proposal.usage.calls, proposal.usage.input_tokens, proposal.usage.output_tokens) == (1, 100, 10)
    assert proposal.usage.latency_seconds > 0
    assert len(requests) == 1


def test_the_request_carries_prompt_and_record() -> None:
    _, [request] = run_one([Answer(EMPTY)])
    system, user = request["messages"]
    assert request["model"] == "asked-for"
    assert system["content"] == prompts.load().text
    assert json.loads(user["content"].splitlines()[1])["text"].startswith("Nightly exports")
    assert "tools" not in request
    assert "response_format" not in request


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ('{"candidates": [', "not one JSON document"),
        (EXTRA, "candidates[0].importance"),
        ("Here you are: " + EMPTY, "not one JSON document"),
        ("", "the answer is empty"),
        (None, "the answer is empty"),
    ],
)
def test_a_malformed_answer_gets_one_repair_that_says_what_was_wrong(bad: str | None, named: str) -> None:
    outcome, requests = run_one([Answer(bad), Answer(GOOD)])
    assert isinstance(outcome, Done)
    assert outcome.output.usage.calls == 2
    assert outcome.output.usage.input_tokens == 200
    assert named in requests[1]["messages"][-1]["content"]
    if bad:
        assert requests[1]["messages"][-2] == {"role": "assistant", "content": bad}


def test_a_second_malformed_answer_buries_without_repeating_content() -> None:
    leak = '{"candidates": [{"content": "the vault code is 4711", "kind": "secretish", "rationale": "r"}]}'
    outcome, requests = run_one([Answer(leak)])
    assert isinstance(outcome, Bury)
    assert outcome.code is ErrorCode.MALFORMED_ENVELOPE
    assert "candidates[0].kind" in outcome.detail
    assert "4711" not in outcome.detail
    assert "secretish" not in outcome.detail
    assert len(requests) == 2


def test_a_model_that_proposes_the_example_of_its_prompt_is_told_and_then_refused() -> None:
    [echo] = [
        line for line in prompts.load().text.splitlines() if line.startswith('{"candidates"') and "tide" in line.lower()
    ]
    outcome, requests = run_one([Answer(echo), Answer(GOOD)])
    assert isinstance(outcome, Done)
    assert "repeats an example" in requests[1]["messages"][-1]["content"]
    outcome, _ = run_one([Answer(echo)])
    assert isinstance(outcome, Bury)


def long_job(meter: Meter) -> ExtractionJob:
    turns = tuple(Turn(role=Role.USER, text=f"{n} " + "x" * 900, trust=Trust.USER) for n in range(12))
    return ExtractionJob(uuid5(ROOT, "long"), Transcript(turns=turns), meter=meter)


def found(turn: int) -> str:
    candidate = {"content": f"Seen in turn {turn}.", "kind": "fact", "rationale": "r",
                 "evidence": [{"turn": turn, "quote": f"{turn} xxxxxxxx"}]}  # fmt: skip
    return json.dumps({"candidates": [candidate]})


def test_a_long_session_is_asked_about_window_by_window_and_each_call_is_paid() -> None:
    meter = Ledger()
    script = [Answer(found(1)), Answer("no json"), Answer(found(5)), Answer(found(1))]
    with ModelServer(script) as server:
        reader = extractor(server.base_url, window_characters=5_000)
        [(_, outcome)] = list(reader.extract_many([long_job(meter)]))
    assert isinstance(outcome, Done)
    assert [one.content for one in outcome.output.envelope.candidates] == ["Seen in turn 1.", "Seen in turn 5."]
    assert outcome.output.usage.calls == len(meter.settled) == len(server.requests) == 4
    assert "part 3 of 3" in server.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("fault", [Failure(500), Failure(401), Answer("no json")])
def test_a_window_that_fails_is_the_runs_failure_and_no_later_one_is_asked(fault: Failure | Answer) -> None:
    meter = Ledger()
    with ModelServer([Answer(found(1)), fault]) as server:
        reader = extractor(server.base_url, window_characters=5_000)
        [(_, outcome)] = list(reader.extract_many([long_job(meter)]))
    assert isinstance(outcome, Retry | Bury)
    assert len(server.requests) == len(meter.settled) == (3 if isinstance(fault, Answer) else 2)


@pytest.mark.parametrize(
    "line",
    [
        Failure(408),
        Failure(500),
        Failure(502),
        Failure(503),
        Garbage(),
        Garbage(b'{"id": "chatcmpl-1"'),
        Garbage(b"{}"),
    ],
)
def test_a_passing_fault_is_retried_by_the_run_and_by_nothing_else(line: Line) -> None:
    outcome, requests = run_one([line])
    assert isinstance(outcome, Retry)
    assert outcome.code is ErrorCode.MODEL_UNAVAILABLE
    assert outcome.after_seconds is None
    assert len(requests) == 1


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (Failure(429, retry_after="7"), 7),
        (Failure(429), 30),
        (Failure(500, retry_after="11"), 11),
        (Failure(503, retry_after="86400"), 3_600),
        (Failure(503, retry_after="0"), 0),
    ],
)
def test_where_the_endpoint_says_when_the_run_waits_and_spends_no_attempt(line: Failure, seconds: int) -> None:
    began = datetime.now(UTC)
    outcome, requests = run_one([line])
    assert isinstance(outcome, Snooze)
    assert outcome.reason == "model_unavailable"
    waits = (outcome.until - began).total_seconds()
    assert seconds <= waits <= seconds + 30 / 2 + 10
    assert len(requests) == 1


def test_an_endpoint_that_fails_in_a_row_is_left_alone_until_it_answers_one() -> None:
    meter = Ledger()
    with ModelServer([*[Failure(500)] * FAILURES_MAX, Failure(500), Answer(EMPTY)]) as server:
        reader = extractor(server.base_url, concurrency=1, cool_down_seconds=0.4)
        first = [outcome for _, outcome in reader.extract_many([job(n, meter=meter) for n in range(8)])]
        assert [type(one) for one in first] == [Retry] * FAILURES_MAX + [Snooze] * 3
        assert len(server.requests) == len(meter.reserved) == FAILURES_MAX, "what waits is neither asked nor paid"
        assert reader.circuit is CircuitState.OPEN
        time.sleep(0.5)
        again = [type(outcome) for _, outcome in reader.extract_many([job(n) for n in range(3)])]
        assert again == [Retry, Snooze, Snooze], "one asks, and is not answered"
        assert reader.circuit is CircuitState.OPEN
        time.sleep(0.5)
        assert [type(outcome) for _, outcome in reader.extract_many([job(n) for n in range(3)])] == [Done] * 3
        assert reader.circuit is CircuitState.CLOSED


@pytest.mark.parametrize("line", [Failure(401), Answer("no JSON")])
def test_an_endpoint_that_answers_badly_is_there(line: Line) -> None:
    with ModelServer([line]) as server:
        reader = extractor(server.base_url, concurrency=1)
        assert {type(one) for _, one in reader.extract_many([job(n) for n in range(8)])} == {Bury}
        assert reader.circuit is CircuitState.CLOSED


def test_one_whose_turn_to_ask_is_not_paid_for_leaves_it_to_the_next() -> None:
    with ModelServer([*[Failure(500)] * FAILURES_MAX, Answer(EMPTY)]) as server:
        reader = extractor(server.base_url, concurrency=1, cool_down_seconds=0.2)
        list(reader.extract_many([job(n) for n in range(FAILURES_MAX)]))
        time.sleep(0.3)
        asked = [replace(job(0), meter=Ledger(WAITS)), job(1)]
        outcomes = [one for _, one in reader.extract_many(asked)]
        assert outcomes[0] == WAITS
        assert reader.circuit is CircuitState.CLOSED


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_buried(status: int) -> None:
    outcome, requests = run_one([Failure(status)])
    assert isinstance(outcome, Bury)
    assert outcome.code is ErrorCode.MODEL_REFUSED
    assert outcome.detail == f"the endpoint answered {status} (scripted_failure)"
    assert len(requests) == 1


def test_a_missed_deadline_is_retried() -> None:
    began = time.monotonic()
    outcome, _ = run_one([Hang()], deadline_seconds=0.3)
    assert outcome == Retry(ErrorCode.MODEL_UNAVAILABLE, "no answer within 0.3 seconds")
    assert time.monotonic() - began < 5


def test_a_refused_connection_is_retried() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        [(_, outcome)] = list(extractor(base_url).extract_many([job()]))
    assert isinstance(outcome, Retry)
    assert outcome.code is ErrorCode.MODEL_UNAVAILABLE


def test_every_run_is_yielded_once_and_one_fault_spoils_no_other() -> None:
    script = [Failure(500), Answer(GOOD), Failure(401), Answer(EMPTY)]
    with ModelServer(script) as server:
        outcomes = list(extractor(server.base_url, concurrency=1).extract_many([job(n) for n in range(6)]))
    assert {run_id for run_id, _ in outcomes} == {job(n).run_id for n in range(6)}
    assert len(outcomes) == 6
    assert sorted(type(outcome).__name__ for _, outcome in outcomes) == [
        "Bury",
        "Done",
        "Done",
        "Done",
        "Done",
        "Retry",
    ]


def test_a_finished_run_is_yielded_while_another_still_waits() -> None:
    with ModelServer([Answer(GOOD), Hang()]) as server:
        outcomes = extractor(server.base_url, concurrency=2).extract_many([job(0), job(1)])
        _, first = next(outcomes)
        assert isinstance(first, Done)
        outcomes.close()


def test_closing_the_generator_cancels_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with ModelServer([Answer(EMPTY), Hang()]) as server:
        serving = threading.active_count() - before
        outcomes = extractor(server.base_url, concurrency=1, deadline_seconds=60.0).extract_many(
            [job(n) for n in range(5)]
        )
        next(outcomes)
        began = time.monotonic()
        outcomes.close()
        assert time.monotonic() - began < 5
        assert not [thread for thread in threading.enumerate() if thread.name == "extraction-loop"]
        assert serving == 1
        assert len(server.requests) <= 2


def test_no_more_ask_at_once_than_allowed() -> None:
    with ModelServer([Answer(EMPTY, delay_seconds=0.1)]) as server:
        list(extractor(server.base_url, concurrency=2).extract_many([job(n) for n in range(6)]))
    assert server.most_at_once == 2


def test_an_empty_batch_asks_nothing() -> None:
    with ModelServer([Answer(EMPTY)]) as server:
        assert list(extractor(server.base_url).extract_many([])) == []
    assert server.requests == []


def test_a_missing_library_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"pip install 'afterword-server\[openai\]'"):
        extractor("http://127.0.0.1:1/v1")


def test_the_key_is_not_shown() -> None:
    assert "hunter" not in repr(Endpoint(base_url="http://127.0.0.1:1/v1", model="m", api_key="hunter-two"))


def metered(script: list, meter: Ledger, **changes: object):
    with ModelServer(script) as server:
        [(_, outcome)] = list(extractor(server.base_url, **changes).extract_many([job(meter=meter)]))
    return outcome, server.requests


def test_each_call_is_reserved_before_it_and_settled_after_it() -> None:
    meter = Ledger()
    outcome, requests = metered([Answer("no JSON"), Answer(GOOD, model="answered-by-2")], meter)
    assert isinstance(outcome, Done)
    assert len(requests) == len(meter.reserved) == len(meter.settled) == 2
    first, repair = (asked.tokens.input for asked in meter.reserved)
    assert 0 < first < repair, "the repair carries the refused answer too"
    assert [(each.outcome, each.tokens) for each in meter.settled] == [(CallOutcome.ANSWERED, Tokens(100, 10))] * 2
    assert meter.settled[1].model == "answered-by-2"
    assert meter.settled[0].latency_seconds > 0


@pytest.mark.parametrize(
    ("line", "outcome", "tokens"),
    [
        (Failure(429), CallOutcome.UNAVAILABLE, Tokens(0, 0)),
        (Failure(500), CallOutcome.UNAVAILABLE, Tokens(0, 0)),
        (Failure(401), CallOutcome.REFUSED, Tokens(0, 0)),
        (Hang(), CallOutcome.TIMED_OUT, None),
    ],
)
def test_a_call_that_came_to_nothing_is_settled_too(line: object, outcome: CallOutcome, tokens: Tokens | None) -> None:
    """Of one that nobody answered nobody knows what it cost: what was reserved stands."""
    meter = Ledger()
    metered([line], meter, deadline_seconds=0.5 if isinstance(line, Hang) else 20.0)
    assert [(each.outcome, each.tokens) for each in meter.settled] == [(outcome, tokens)]


WAITS = Snooze(datetime(2031, 1, 1, tzinfo=UTC), "over_budget")


@pytest.mark.parametrize("answer", [WAITS, Skip(SkipReason.OVER_BUDGET)])
def test_what_nobody_pays_for_is_not_sent(answer: Snooze | Skip) -> None:
    meter = Ledger(answer)
    outcome, requests = metered([Answer(GOOD)], meter)
    assert outcome == answer
    assert requests == []
    assert meter.settled == []


def test_a_job_without_a_meter_is_not_sent() -> None:
    with ModelServer([Answer(GOOD)]) as server:
        bare = replace(job(), meter=None)
        [(_, outcome)] = list(extractor(server.base_url).extract_many([bare]))
    assert isinstance(outcome, Bury)
    assert server.requests == []


@pytest.mark.parametrize(
    ("model", "base_url", "where", "known"),
    [
        ("gpt-4o-mini", "https://api.openai.com/v1", EndpointClass.CLOUD, True),
        ("gpt-4o-mini-2024-07-18", "https://api.openai.com/v1", EndpointClass.CLOUD, True),
        ("of-our-own", "https://api.openai.com/v1", EndpointClass.CLOUD, False),
        ("gpt-4o-mini", "http://127.0.0.1:8000/v1", EndpointClass.CLOUD, False),
        ("gpt-4o-mini", "https://api.openai.com/v1", EndpointClass.PRIVATE, False),
    ],
)
def test_a_price_is_known_or_none_and_never_zero(model: str, base_url: str, where: EndpointClass, known: bool) -> None:
    found = price(Endpoint(base_url=base_url, model=model, endpoint_class=where), model, Tokens(1_000_000, 0))
    assert (found is not None and found > 0) if known else found is None
