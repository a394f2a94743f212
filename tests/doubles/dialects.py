"""The wire formats that providers' SDKs speak, as `ModelServer` speaks them: paths, answers and errors.

ModelServer(script, ANTHROPIC)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]

TOKENS_IN, TOKENS_OUT = 100, 10


@dataclass(frozen=True)
class Dialect:
    """`answer`: text, model, number and request to a body, cut where `is_cut`. `error`: status and code to a body.

    `base` stands behind the server's address in the base URL; `path` matches what is posted to.
    """

    base: str
    path: re.Pattern[str]
    answer: Callable[[str | None, str, int, Body, bool], Body]
    error: Callable[[int, str], Body]
    error_headers: Callable[[str], dict[str, str]] = lambda code: {}


def _openai(text: str | None, model: str, number: int, request: Body, is_cut: bool) -> Body:
    message: Body = {"role": "assistant", "content": text}
    finish = "length" if is_cut else "stop"
    if request.get("tools"):
        name = request["tools"][0]["function"]["name"]
        call = {"id": f"call-{number}", "type": "function", "function": {"name": name, "arguments": text}}
        message, finish = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": usage,
    }


def _anthropic(text: str | None, model: str, number: int, request: Body, is_cut: bool) -> Body:
    blocks: list[Body] = [{"type": "text", "text": text}] if text else []
    stop = "max_tokens" if is_cut else "end_turn"
    if request.get("tools") and text is not None:
        name = request["tools"][0]["name"]
        blocks, stop = (
            [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": json.loads(text)}],
            "tool_use",
        )
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT},
    }


def _google(text: str | None, model: str, number: int, request: Body, is_cut: bool) -> Body:
    content = {"role": "model", "parts": [{"text": text}] if text else []}
    usage = {"promptTokenCount": TOKENS_IN, "candidatesTokenCount": TOKENS_OUT,
             "totalTokenCount": TOKENS_IN + TOKENS_OUT}  # fmt: skip
    finish = "MAX_TOKENS" if is_cut else "STOP"
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": f"response-{number}",
    }


def _bedrock(text: str | None, model: str, number: int, request: Body, is_cut: bool) -> Body:
    content: list[Body] = [{"text": text}] if text else []
    usage = {"inputTokens": TOKENS_IN, "outputTokens": TOKENS_OUT, "totalTokens": TOKENS_IN + TOKENS_OUT}
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "max_tokens" if is_cut else "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 1},
    }


OPENAI = Dialect(
    "/v1",
    re.compile(r"/v1/chat/completions"),
    _openai,
    lambda status, code: {"error": {"message": "as scripted", "type": "scripted", "param": None, "code": code}},
)
ANTHROPIC = Dialect(
    "",
    re.compile(r"/v1/messages(\?.*)?"),
    _anthropic,
    lambda status, code: {"type": "error", "error": {"type": code, "message": "as scripted"}},
)
GOOGLE = Dialect(
    "",
    re.compile(r"/v1beta/models/[^/]+:generateContent"),
    _google,
    lambda status, code: {"error": {"code": status, "message": "as scripted", "status": code}},
)
BEDROCK = Dialect(
    "",
    re.compile(r"/model/[^/]+/converse"),
    _bedrock,
    lambda status, code: {"message": "as scripted"},
    lambda code: {"x-amzn-ErrorType": code},
)
