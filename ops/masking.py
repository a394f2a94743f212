"""What an operator is shown of a text: every span masked, LOW ones too. A reviewer looks by another door, on record."""

from __future__ import annotations

from collections.abc import Sequence

from ops.compose import working_detectors
from ops.settings import Settings
from pipeline.errors import DetectorDown
from pipeline.redaction.classes import PERSON
from pipeline.redaction.redactor import Inspector
from pipeline.redaction.span import Detector, mask

WITHHELD = "[not shown: a detector is down]"
NAME = f"[REDACTED:{PERSON}]"


class Masker:
    """Masks by the detectors that work here; what one of them cannot look at is not shown."""

    def __init__(self, settings: Settings, ahead: Sequence[str] = (), *, detectors: Sequence[Detector] = ()) -> None:
        self._settings = settings
        self._detectors = detectors or working_detectors(settings)
        self._inspect = Inspector(self._detectors, ahead)

    def anew(self, ahead: Sequence[str]) -> Masker:
        """The same detectors, over these texts at once; the earlier ones are let go."""
        return Masker(self._settings, ahead, detectors=self._detectors)

    def __call__(self, text: str, *, names: Sequence[str] = ()) -> str:
        """`text` without what is found in it, nor these names of people."""
        try:
            shown = mask(text, self._inspect(text).spans)
        except DetectorDown:
            return WITHHELD
        for name in sorted(names, key=len, reverse=True):
            shown = _without(shown, name)
        return shown


def _without(text: str, name: str) -> str:
    """Every occurrence of the name, whatever its case."""
    folded, wanted, at = text.casefold(), name.casefold(), 0
    if len(folded) != len(text) or not wanted:  # folding changed lengths: offsets would lie
        return text.replace(name, NAME) if name else text
    parts = []
    while (found := folded.find(wanted, at)) >= 0:
        parts += [text[at:found], NAME]
        at = found + len(wanted)
    return "".join([*parts, text[at:]])
