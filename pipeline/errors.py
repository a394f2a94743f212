"""Every error Afterword raises on purpose.

    AfterwordError
    ├── SettingError          a setting is missing, unknown or contradicts another; names it and the way out
    ├── EventError            a session-end event cannot become a run (carries a RejectReason)
    ├── FormatError           no reader knows this session log
    ├── MalformedEnvelope     a model's answer is not the strict document (carries what was wrong)
    ├── ModelUnavailable      a model endpoint answered 429 or 5xx, or not in time; worth another try
    ├── ModelRefused          a model endpoint answered that it never will (401, 403, 404, 422)
    ├── EmbedderUnset         no embedder was chosen; names the setting
    ├── DetectorDown          a detector failed its canary or raised
    └── LedgerBroken          the ledger does not verify; names the first bad entry

The class docstring is the default message.
"""

from __future__ import annotations


class AfterwordError(Exception):
    """Something Afterword refuses to do."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().splitlines()[0])


class SettingError(AfterwordError):
    """A setting is missing or wrong."""


class EventError(AfterwordError):
    """The event cannot become a run."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class FormatError(AfterwordError):
    """No reader knows this session log."""


class MalformedEnvelope(AfterwordError):
    """The model's answer is not a valid envelope."""


class ModelUnavailable(AfterwordError):
    """The model endpoint did not answer; the call is worth another try."""

    def __init__(self, message: str | None = None, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ModelRefused(AfterwordError):
    """The model endpoint refused the call and would refuse it again."""


class EmbedderUnset(AfterwordError):
    """No embedder is chosen. Set AFTERWORD_EMBEDDER to local, openai or none."""


class DetectorDown(AfterwordError):
    """A detector failed its canary or raised."""


class LedgerBroken(AfterwordError):
    """The ledger does not verify."""
