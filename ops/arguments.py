"""What is typed at the command line, read: times, ids by their beginning, pairs, and reasons without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

import typer

from db.connect import Connection
from db.overview import ids_between
from pipeline.errors import AfterwordError
from pipeline.memory import ScopeKind
from pipeline.redaction.redactor import without_high

SHORTEST_PREFIX = 8
_AGO = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class NotFound(AfterwordError):
    """Nothing has that id."""


class Ambiguous(AfterwordError):
    """More than one thing begins so."""


def moment(text: str) -> datetime:
    """An ISO 8601 time, in UTC where it names no zone, or how long ago: 90m, 2h, 3d."""
    if match := _AGO.fullmatch(text):
        return datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither an ISO time nor a span such as 90m, 2h, 3d") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def ahead(text: str) -> datetime:
    """An ISO 8601 time that is yet to come, or a span from now: 12h, 90d."""
    if match := _AGO.fullmatch(text):
        return datetime.now(UTC) + timedelta(**{_UNITS[match[2]]: int(match[1])})
    at = moment(text)
    if at <= datetime.now(UTC):
        raise typer.BadParameter(f"{text!r} is over")
    return at


def clean(text: str | None) -> str | None:
    """A typed text fit to be stored: secrets, cards, addresses of e-mail and the like are masked."""
    return None if text is None else without_high(text)


def pair(separator: str, form: str) -> Callable[[str | None], str | None]:
    """A check for options of two parts; the text stays as it was."""

    def check(text: str | None) -> str | None:
        if text is not None and not all(part.strip() for part in (text.partition(separator)[::2])):
            raise typer.BadParameter(f"{text!r} is not of the form {form}")
        return text

    return check


def one_id(conn: Connection, kind: str, text: str) -> UUID:
    """The id of the run, memory or rejected event that begins with `text`. Raises NotFound, Ambiguous."""
    return only_id(lambda low, high: ids_between(conn, kind, low, high), kind, text)


def only_id(between: Callable[[UUID, UUID], list[UUID]], kind: str, text: str) -> UUID:
    """The one id that `between` finds from `text` and nothing behind to `text` and all behind."""
    digits = text.replace("-", "").lower()
    if not re.fullmatch(rf"[0-9a-f]{{{SHORTEST_PREFIX},32}}", digits):
        raise typer.BadParameter(f"{text!r} is no id: give it whole, or at least its first {SHORTEST_PREFIX} digits")
    found = between(UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f")))
    if not found:
        raise NotFound(f"no {kind.replace('_', ' ')} has an id that begins with {text}")
    if len(found) > 1:
        raise Ambiguous(
            f"ambiguous: {len(found)} or more ids begin with {text} (ids of one minute begin alike); "
            f"give more digits, for example {found[0]}"
        )
    return found[0]


def scoped(text: str | None) -> tuple[str | None, str | None]:
    """`org` or KIND=VALUE as (kind, value); (None, None) where nothing was typed."""
    if text is None:
        return None, None
    kind, _, value = text.partition("=")
    if kind not in set(ScopeKind) or (kind == ScopeKind.ORG) == bool(value):
        raise typer.BadParameter(f"{text!r} is neither org nor KIND=VALUE with KIND of {', '.join(ScopeKind)}")
    return kind, value or None


Limit = Annotated[int, typer.Option(min=1, max=10_000, help="at most so many rows")]
Reason = Annotated[str, typer.Option(help="why; stands in the ledger", callback=clean)]
OrgName = Annotated[str, typer.Option(help="the org by name")]
OnlyOrg = Annotated[str | None, typer.Option(help="only this org")]
