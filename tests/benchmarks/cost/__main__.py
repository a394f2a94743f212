"""make bench-cost: what a model call for an ended session weighs and costs.

The customer-service sessions are read by the real extractor, over HTTP, from a scripted endpoint that keeps what it was
sent and answers with three candidates. Tokens are counted afterwards by Mistral's Tekken tokenizer, beside the estimate
that the product reserves by; prices are those of genai-prices. Prints the figures and writes .bench/cost.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from genai_prices import Usage, calc_price
from rich.console import Console
from rich.table import Table

from ops.extracting import Log, propose_all, read_log
from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.adapters.pydantic_ai import ModelExtractor
from pipeline.extraction.sentences import sentences
from pipeline.outcome import Done
from pipeline.provenance import EndpointClass
from pipeline.recall.block import estimated_tokens
from tests.doubles.model_server import Answer, ModelServer

ROOT = Path(__file__).parents[3]
CANDIDATES = 3
MODELS = {
    "gpt-5-mini": "openai",
    "gpt-5": "openai",
    "claude-haiku-4-5": "anthropic",
    "claude-sonnet-4-5": "anthropic",
    "gemini-2.5-flash": "google",
    "mistral-small-latest": "mistral",
}
"""Priced per session; the same tokens for all, though each model's own tokenizer counts a little otherwise."""


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    options = _options(argv)
    asked, answered = [], []
    for path in sorted((options.data / "sessions" / "openai-chat").glob("*.json")):
        log = read_log(path)
        answered.append(_envelope(log))
        asked.append(_asked(log, answered[-1]))
    count = _counted(options.python, asked), _counted(options.python, answered)
    figures = _figures(*count, [estimated_tokens(text) for text in asked])
    _show(figures)
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / "cost.json").write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-cost", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of measuring data")
    parser.add_argument("--python", type=Path, required=True, help="of the environment with the tokenizer")
    parser.add_argument("--into", type=Path, default=ROOT / ".bench", help="folder of cost.json")
    return parser.parse_args(argv)


def _asked(log: Log, envelope: str) -> str:
    """All that the one call for a session sends, as the endpoint received it."""
    with ModelServer([Answer(envelope)]) as server:
        endpoint = Endpoint(base_url=server.base_url, model="scripted", endpoint_class=EndpointClass.LOCAL)
        [(_, outcome, calls)] = propose_all(ModelExtractor(endpoint), [log])
        if not isinstance(outcome, Done) or len(calls) != len(server.requests):
            raise SystemExit(f"{log.path.name}: {outcome}")
        return "\n".join(message["content"] for request in server.requests for message in request["messages"])


def _envelope(log: Log) -> str:
    """As many candidates as a model might send, from the longest sentences a person said."""
    said = [(number, one.quote) for number, turn in enumerate(log.transcript.turns) if turn.role == "user"
            for one in sentences(turn.text)]  # fmt: skip
    longest = sorted(said, key=lambda item: -len(item[1]))[:CANDIDATES]
    return json.dumps({"candidates": [
        {"content": quote[:400], "kind": "fact", "rationale": "Only the person who said it knows it.",
         "evidence": [{"turn": number, "quote": quote[:200]}], "confidence": 0.8} for number, quote in longest
    ]})  # fmt: skip


def _counted(python: Path, texts: Sequence[str]) -> list[int]:
    program = Path(__file__).with_name("counting.py")
    done = subprocess.run([python, program], input=json.dumps(texts), capture_output=True, text=True, check=True)
    counts: list[int] = json.loads(done.stdout)
    return counts


def _figures(asked: Sequence[int], answered: Sequence[int], estimated: Sequence[int]) -> dict[str, Any]:
    usage = Usage(input_tokens=round(mean(asked)), output_tokens=round(mean(answered)))
    prices = {
        model: str(calc_price(usage, model, provider_id=provider).total_price) for model, provider in MODELS.items()
    }
    return {
        "sessions": len(asked),
        "input_tokens_mean": usage.input_tokens, "input_tokens_max": max(asked),
        "output_tokens_mean": usage.output_tokens,
        "estimate_ratio": round(median(guess / count for guess, count in zip(estimated, asked, strict=True)), 3),
        "usd_a_session": prices,
    }  # fmt: skip


def _show(figures: dict[str, Any]) -> None:
    table = Table("what", "figure")
    for name, value in figures.items():
        for key, one in value.items() if isinstance(value, dict) else [("", value)]:
            table.add_row(f"{name} {key}".strip(), str(one))
    Console().print(table)


if __name__ == "__main__":
    main()
