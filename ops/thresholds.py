"""Confidence thresholds: what they have to show before a worker may start with them."""

from __future__ import annotations

from db import samples
from db.connect import Connection
from ops.settings import Settings
from pipeline.dropping import Dropping, Record, parse_thresholds
from pipeline.extraction import prompts
from pipeline.extraction.adapters import offline


def dropping(settings: Settings) -> Dropping:
    loaded = parse_thresholds(settings.confidence_thresholds) if settings.confidence_thresholds else {}
    return Dropping(loaded, settings.drop_review_basis_points)


def records(conn: Connection, settings: Settings) -> list[Record]:
    """One for each threshold that is set."""
    return [
        samples.record(conn, stamp, threshold, _prompt_of(stamp))
        for stamp, threshold in dropping(settings).thresholds.items()
    ]


def _prompt_of(stamp: str) -> str:
    return offline.REVISION if stamp.startswith("offline/") else prompts.load().revision
