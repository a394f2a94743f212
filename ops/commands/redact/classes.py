"""afterword redact classes: what is looked for, what follows from a find, and whether anybody looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ops.compose import working_detectors
from ops.output import AsJson, document, rows
from ops.settings import load
from pipeline.redaction.classes import CLASSES, SensitiveClass
from pipeline.redaction.health import Health, look

COLUMNS = ("name", "tier", "personal", "health", "detectors", "found_by", "meaning", "example")


def classes(as_json: AsJson = False) -> None:
    """Every class, its tier, whether it is personal, who finds it, and whether its canaries are found here.

    Needs neither database nor Redis. A class that is not in the table is HIGH and personal.
    Example: afterword redact classes
    """
    health = look(working_detectors(load()))
    found = [asdict(row) | _seen(row, health) for row in CLASSES]
    if as_json:
        document(found)
        return
    rows(({**item, "personal": "yes" if item["personal"] else "no"} for item in found), COLUMNS, as_json=False, none="")


def _seen(row: SensitiveClass, health: Health) -> dict[str, Any]:
    detectors = [detector.name for detector in health.detectors if row.name in detector.classes]
    canaries = {language or "any": found for (cls, language), found in health.found.items() if cls == row.name}
    return {"detectors": detectors, "canaries": canaries, "health": _health(row, detectors, canaries)}


def _health(row: SensitiveClass, detectors: Sequence[str], canaries: dict[str, bool]) -> str:
    if not row.required:
        return "no detector is due"
    if not detectors:
        return "no detector"
    return ", ".join(_told(canaries)) or "no canary"


def _told(canaries: dict[str, bool]) -> Iterator[str]:
    for is_found, word in ((True, "up"), (False, "down")):
        languages = sorted(language for language, found in canaries.items() if found is is_found)
        if languages:
            yield f"{word}: {' '.join(languages)}"
