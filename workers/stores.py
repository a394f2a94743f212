"""The stores beside memories that a rescan looks through: each masks or destroys what today's detectors prove.

Transcripts and envelopes are masked, as the scrub does on the way in. What stands as it was kept (drops), or under a
hash (payloads), cannot be masked: where HIGH is in it, it is erased.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import structlog

from db import reclassify as store
from db.connect import Connection
from db.reclassify import Act, Item, Request, Store
from pipeline.errors import DetectorDown
from pipeline.redaction.classes import ClassTier, tier_of
from pipeline.redaction.redactor import inspect_many, without_high
from pipeline.redaction.scrub import scrub_transcript
from pipeline.redaction.span import Detector
from pipeline.transcripts import pack, unpack

ITEMS_MAX = 4
"""A batch of them: one transcript may hold 16 MB."""

_TEXTS = frozenset({"content", "rationale", "quote", "comment"})

log = structlog.get_logger()
Look = Callable[[Connection, Act, Item, tuple[Detector, ...], bool], bool]
"""Looks at one item and puts it right, or only looks; whether something was found."""


def look_through(
    conn: Connection, request: Request, act: Act, detectors: tuple[Detector, ...], counts: Counter[str], limit: int
) -> str | None:
    """The next items of the request's store. Returns the key of the last, None when there are no more."""
    of_store: Store = request.store  # type: ignore[assignment]
    found = store.items(conn, of_store, request, detectors=act.detectors, limit=min(limit, ITEMS_MAX))
    looked = []
    for item in found:
        if item.on_hold:
            counts["on_hold"] += 1
            continue
        try:
            counts[of_store] += STORES[of_store](conn, act, item, detectors, request.dry_run)
        except (DetectorDown, ValueError) as error:  # ValueError: what was stored is no transcript
            log.warning("reclassification_failed", store=of_store, id=str(item.id), error=type(error).__name__)
            counts["failed"] += 1
            continue
        looked.append(item)
    counts["looked"] += len(found)
    if not request.dry_run:
        store.mark_items(conn, of_store, looked, act.detectors)
    return str(found[-1].id) if found else None


def _transcript(conn: Connection, act: Act, item: Item, detectors: tuple[Detector, ...], only_look: bool) -> bool:
    before = unpack(item.body)
    after, masks = scrub_transcript(before)
    if after == before:
        return False
    return only_look or store.repack(conn, act, item, pack(after), dict(Counter(mask.cls for mask in masks)))


def _envelope(conn: Connection, act: Act, item: Item, detectors: tuple[Detector, ...], only_look: bool) -> bool:
    after = _scrubbed(item.body)
    return after != item.body and (only_look or store.rewrite(conn, act, item, after))


def _scrubbed(value: Any, name: str = "") -> Any:
    """A JSON value with its texts as they would be staged today; who said it, and for whom, stays."""
    if isinstance(value, str):
        return without_high(value) if name in _TEXTS else value
    if isinstance(value, list):
        return [_scrubbed(item, name) for item in value]
    if isinstance(value, dict):
        return {key: _scrubbed(item, key) for key, item in value.items()}
    return value


def _drop(conn: Connection, act: Act, item: Item, detectors: tuple[Detector, ...], only_look: bool) -> bool:
    found = _high(item.body, detectors)
    return bool(found) and (only_look or store.erase_drop(conn, act, item, found))


def _payload(conn: Connection, act: Act, item: Item, detectors: tuple[Detector, ...], only_look: bool) -> bool:
    found = _high(item.body, detectors)
    return bool(found) and (only_look or store.destroy_payload(conn, act, item, found))


def _high(body: Any, detectors: tuple[Detector, ...]) -> list[str]:
    """The classes of what HIGH stands in a JSON value's texts; masks do not count."""
    spans = (span for seen in inspect_many(list(_texts(body)), detectors) for span in seen.spans)
    return sorted({span.cls for span in spans if tier_of(span.cls) is ClassTier.HIGH})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


STORES: dict[Store, Look] = {"drops": _drop, "payloads": _payload, "transcripts": _transcript, "envelopes": _envelope}
"""In the order they are looked through, after the memories."""
