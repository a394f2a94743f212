"""Logging, configured once a process: structlog and the standard library's loggers through one formatter, to stderr."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import ExcInfo, Processor

from pipeline.errors import AfterwordError
from pipeline.redaction.redactor import without_high

# A password in an address, wherever it stands: a library's error message quotes the URL it could not reach.
_CREDENTIALS = re.compile(r"(?<=://)([^/@\s:]*):[^/@\s]+@")
_CAUSES_MAX = 8
_SECRET_NAMES = re.compile(r"password|secret|token|api_key|installation_key|authorization", re.IGNORECASE)


def configure(level: str, *, as_json: bool, stream: TextIO | None = None) -> None:
    """Routes every log line of the process to `stream` (stderr). `level` is debug, info, warning or error."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(trace),
        mask_secrets,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_formatter(shared, as_json))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def trace(exc_info: ExcInfo) -> str:
    """Where it was raised and of what type, each cause before what it caused. Without messages, notes and local
    variables: what a library or Postgres could not take is quoted there. What Afterword itself refuses says why.
    """
    error: BaseException | None = exc_info[1]
    parts: list[str] = []
    while error is not None and len(parts) < _CAUSES_MAX:
        words = f": {error}" if isinstance(error, AfterwordError) else ""
        frames = "".join(traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__)).format())
        parts.append(f"{frames}{type(error).__module__}.{type(error).__qualname__}{words}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\ncaused\n".join(reversed(parts))


def mask_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Masks values whose name says that they are secret, passwords inside addresses, and what is HIGH in any text."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = "***" if _SECRET_NAMES.search(name) else without_high(_CREDENTIALS.sub(r"\1:***@", value))
    return event


def _formatter(shared: list[Processor], as_json: bool) -> structlog.stdlib.ProcessorFormatter:
    last: Processor = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
    )
