"""What a call that came to nothing means: for the run, and for who pays. The endpoint's own words are left out, since
they may repeat the prompt.
"""

from __future__ import annotations

import re
from decimal import Decimal

from pydantic_ai.exceptions import AgentRunError, ContentFilterError, ModelAPIError, ModelHTTPError, ModelTimeoutError

from pipeline.extraction.metering import CallOutcome, Settled, Tokens
from pipeline.outcome import Bury, ErrorCode, Retry

TOO_MANY = 429
WORTH_ANOTHER_TRY = frozenset({408, 409, 425, TOO_MANY})
WAIT_SECONDS_MAX = 3_600.0
"""Whatever an endpoint asks for, it is looked at again within the hour."""


def timeout(deadline_seconds: float) -> Retry:
    return Retry(ErrorCode.MODEL_UNAVAILABLE, f"no answer within {deadline_seconds:g} seconds")


def failure(error: AgentRunError, cool_down_seconds: float) -> Retry | Bury:
    """Worth another try, or refused for good. With `after_seconds` where it is for the endpoint to say when."""
    if isinstance(error, ContentFilterError):
        return Bury(ErrorCode.MODEL_REFUSED, "the endpoint's content filter refused the session")
    if not isinstance(error, ModelAPIError):
        return Retry(ErrorCode.MODEL_UNAVAILABLE, "the endpoint answered with something that is no answer of a model")
    if not isinstance(error, ModelHTTPError):
        return Retry(ErrorCode.MODEL_UNAVAILABLE, f"no connection to the endpoint ({type(error).__name__})")
    detail = f"the endpoint answered {error.status_code}{_code(error)}"
    if error.status_code >= 500 or error.status_code in WORTH_ANOTHER_TRY:
        return Retry(ErrorCode.MODEL_UNAVAILABLE, detail, _wait(error, cool_down_seconds))
    return Bury(ErrorCode.MODEL_REFUSED, detail)


def _wait(error: ModelHTTPError, cool_down_seconds: float) -> float | None:
    """Seconds. One that asks too often has done nothing wrong, so it waits even where nobody says for how long."""
    if error.retry_after is None:
        return cool_down_seconds if error.status_code == TOO_MANY else None
    return min(max(error.retry_after, 1.0), WAIT_SECONDS_MAX)


def _code(error: ModelHTTPError) -> str:
    code = error.provider_error_code or ""
    return f" ({code})" if re.fullmatch(r"[\w.-]{1,60}", code) else ""


def settled(error: AgentRunError) -> Settled:
    """An error status costs nothing; of a connection that broke nobody knows, and what was reserved counts."""
    outcome = CallOutcome.REFUSED if isinstance(failure(error, 0), Bury) else CallOutcome.UNAVAILABLE
    if isinstance(error, ModelHTTPError):
        return Settled(outcome, tokens=Tokens(0, 0), cost=Decimal(0))
    return Settled(CallOutcome.TIMED_OUT if isinstance(error, ModelTimeoutError) else outcome)
