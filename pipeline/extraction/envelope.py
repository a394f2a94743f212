"""A model's answer to an `Envelope`, strictly: one JSON document, bare or in a single markdown fence.

Nothing is repaired, guessed or dropped: an unknown field, a duplicate key, NaN or one bad candidate refuses the
whole answer. The message of `MalformedEnvelope` goes back to the model and into dead letter, so it says where and
why and never repeats what the answer held.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from pipeline.candidate import Envelope
from pipeline.consolidation.similarity import Likeness, similarity
from pipeline.errors import MalformedEnvelope
from pipeline.session import normalised, storable

MAX_MESSAGE_CHARACTERS = 1_000
_FENCED = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(?P<document>.*?)\r?\n?[ \t]*```", re.DOTALL)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")


def parse(text: str, canaries: Sequence[str] = ()) -> Envelope:
    """The envelope in `text`; raises MalformedEnvelope with field paths and reasons, at most 1,000 characters.

    `canaries`: what the examples of the prompt say, which no candidate may.
    """
    parsed = _envelope(text)
    for number, candidate in enumerate(parsed.candidates):
        said = [candidate.content, *(item.quote for item in candidate.evidence)]
        if any(_repeats(one, canary) for one in said for canary in canaries):
            raise MalformedEnvelope(f"candidates[{number}] repeats an example of the instructions, which is no session")
    return parsed


def document(text: str) -> Any:
    """The one JSON document in `text`, bare or fenced, fit to be stored. Raises MalformedEnvelope."""
    return _storable(_decode(_unfenced(text)))


def _repeats(said: str, canary: str) -> bool:
    return normalised(canary) in normalised(said) or similarity(said, canary).kind is not Likeness.NONE


def _envelope(text: str) -> Envelope:
    try:
        return Envelope.model_validate_json(json.dumps(document(text), allow_nan=False), strict=True)
    except ValidationError as error:
        raise MalformedEnvelope(_explain(error)) from None


def _unfenced(text: str) -> str:
    body = text.strip()
    if not body:
        raise MalformedEnvelope('the answer is empty; nothing worth keeping is {"candidates": []}')
    fenced = _FENCED.fullmatch(body)
    return fenced["document"] if fenced else body


def _decode(body: str) -> Any:
    try:
        return json.loads(body, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedEnvelope(f"the answer is not one JSON document: {error.msg} at {where}") from None
    except RecursionError:
        raise MalformedEnvelope("the answer is nested too deeply") from None
    except ValueError:  # an integer of thousands of digits
        raise MalformedEnvelope("the answer holds a number out of range") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise MalformedEnvelope(f"the field {_shown(twice)} is given twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise MalformedEnvelope(f"{name} is not a JSON number")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise MalformedEnvelope("the answer holds a number out of range")
    return number


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): _storable(item) for name, item in value.items()}
    return value


def _explain(error: ValidationError) -> str:
    lines = [
        f"{_path(item['loc'])}: {item['msg']}"
        for item in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    message = "; ".join(lines)
    return message if len(message) <= MAX_MESSAGE_CHARACTERS else message[: MAX_MESSAGE_CHARACTERS - 1] + "…"


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{_shown(step)}"
    return path.removeprefix(".") or "document"


def _shown(name: str) -> str:
    """A field name fit to repeat; an odd one may be content in the wrong place."""
    return name if _PLAIN_NAME.fullmatch(name) else "(a name that is no field)"
