"""Which detectors see, and which classes they cover: judged by canaries, fixed texts that must be found.

    detector --canaries of its classes--> what it found --> up or down --> covered per class and language

A detector that finds nothing is down, however fast it answers. A canary must be found by a detector that claims its
class. A class without a canary is never covered. Where every canary of a class is of a language, the class is covered
in the languages that have one; where one is of none, its format is the same everywhere, and those of a language are
asked for besides.

Failure handling: a detector that raised, or was not waited for any longer, gave no answer. It is not asked to look at
texts until it answers again, and what only it covers is `detector_unavailable`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Protocol, runtime_checkable

from pipeline.redaction.canary import CANARIES, Canary
from pipeline.redaction.span import BatchDetector, Detector, Span

Answer = frozenset[Canary] | None
"""The canaries a detector found; None where it gave no answer."""


@runtime_checkable
class Revised(Protocol):
    """A detector that finds by what it has loaded, besides its code."""

    @property
    def revision(self) -> str: ...


@runtime_checkable
class BringsCanaries(Protocol):
    """A detector whose languages are a matter of what it was loaded from."""

    @property
    def canaries(self) -> tuple[Canary, ...]: ...


@dataclass(frozen=True)
class Health:
    """What one round of canaries showed. `answers` is by the name of the detector."""

    detectors: tuple[Detector, ...]
    answers: Mapping[str, Answer]
    canaries: tuple[Canary, ...] = CANARIES

    @property
    def answering(self) -> tuple[Detector, ...]:
        """The detectors that may be asked to look at texts."""
        return tuple(detector for detector in self.detectors if self.answers[detector.name] is not None)

    @cached_property
    def up(self) -> dict[str, bool]:
        """Whether each detector found something of every class it claims that has a canary at all."""
        known = {canary.cls for canary in self.canaries}
        return {each.name: _is_up(each, known, self.answers[each.name]) for each in self.detectors}

    @cached_property
    def found(self) -> dict[tuple[str, str | None], bool]:
        """(class, language) -> whether every canary of it was found; of the classes that some detector claims."""
        claimed = frozenset[str]().union(*map(_claims, self.detectors))
        seen = set(chain.from_iterable(answer or () for answer in self.answers.values()))
        found: dict[tuple[str, str | None], bool] = {}
        for canary in self.canaries:
            if canary.cls in claimed:
                key = (canary.cls, canary.language)
                found[key] = found.get(key, True) and canary in seen
        return found

    @cached_property
    def digest(self) -> str:
        """Names what looked: the code of detection, each detector with its model, and what was not found just now."""
        parts = [code_digest()]
        parts += [f"{each.name} {_revision(each)} {self.up[each.name]}" for each in self.detectors]
        parts += [f"missed {cls} {language}" for (cls, language), is_found in self.found.items() if not is_found]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    def covers(self, cls: str, languages: Collection[str]) -> bool:
        """In each of `languages`, which must be at least one."""
        everywhere = self.found.get((cls, None))
        if everywhere is None:
            return bool(languages) and all(self.found.get((cls, language), False) for language in languages)
        return everywhere and all(self.found.get((cls, language), True) for language in languages)


def _revision(detector: Detector) -> str:
    return detector.revision if isinstance(detector, Revised) else ""


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Of every file of detection, code and words: whatever changes in it may find something else."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _is_up(detector: Detector, known: set[str], answer: Answer) -> bool:
    return bool(answer) and _claims(detector) & known <= {canary.cls for canary in answer or ()}


def canaries_for(detectors: Iterable[Detector]) -> tuple[Canary, ...]:
    """Those of every install, and those a detector brings for the languages it is said to know."""
    brought = (detector.canaries for detector in detectors if isinstance(detector, BringsCanaries))
    return CANARIES + tuple(chain.from_iterable(brought))


def _claims(detector: Detector) -> frozenset[str]:
    """A model that cannot be read cannot say what it is for."""
    try:
        return detector.classes
    except Exception:  # it is down, and says why where it is asked to look
        return frozenset()


def sing(detector: Detector, canaries: Sequence[Canary] = CANARIES) -> frozenset[Canary]:
    """The canaries of its classes that the detector finds, asked in one go. Raises what the detector raises."""
    asked = [canary for canary in canaries if canary.cls in detector.classes]
    texts = [canary.text for canary in asked]
    if isinstance(detector, BatchDetector):
        answers = list(detector.detect_many(texts))
    else:
        answers = [detector.detect(text) for text in texts]
    return frozenset(canary for canary, spans in zip(asked, answers, strict=True) if _is_found(canary, spans))


def look(detectors: Sequence[Detector], canaries: Sequence[Canary] | None = None) -> Health:
    """One round, here and now; a detector that hangs is waited for."""
    canaries = canaries_for(detectors) if canaries is None else canaries
    answers = {detector.name: _answer(detector, canaries) for detector in detectors}
    return Health(tuple(detectors), answers, tuple(canaries))


def _answer(detector: Detector, canaries: Sequence[Canary]) -> Answer:
    try:
        return sing(detector, canaries)
    except Exception:  # a broken detector must hold candidates, not stop whoever asks
        return None


def _is_found(canary: Canary, spans: Sequence[Span]) -> bool:
    start = canary.text.index(canary.expected)
    end = start + len(canary.expected)
    return any(span.cls == canary.cls and span.start <= start and end <= span.end for span in spans)
