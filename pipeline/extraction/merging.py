"""The envelopes of a session's windows as one: what two say alike is one candidate, with the evidence of both."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.candidate import MAX_CANDIDATES, Candidate, Envelope
from pipeline.consolidation.similarity import Likeness, similarity
from pipeline.errors import MalformedEnvelope

_EVIDENCE_MAX = 10


def merge(envelopes: Sequence[Envelope]) -> Envelope:
    """In the order of the windows; the first wording of a repeat stands. Over 200 candidates: MalformedEnvelope."""
    merged: list[Candidate] = []
    for envelope in envelopes:
        before = len(merged)
        for candidate in envelope.candidates:
            same = next((n for n in range(before) if _alike(merged[n], candidate)), None)
            if same is None:
                merged.append(candidate)
            else:
                merged[same] = _united(merged[same], candidate)
    if len(merged) > MAX_CANDIDATES:
        raise MalformedEnvelope(f"{len(merged)} candidates over {len(envelopes)} windows, more than {MAX_CANDIDATES}")
    return Envelope(candidates=tuple(merged))


def _alike(a: Candidate, b: Candidate) -> bool:
    return a.kind is b.kind and similarity(a.content, b.content).kind is not Likeness.NONE


def _united(first: Candidate, again: Candidate) -> Candidate:
    stated = [one.confidence for one in (first, again) if one.confidence is not None]
    return first.model_copy(update={
        "evidence": tuple(dict.fromkeys(first.evidence + again.evidence))[:_EVIDENCE_MAX],
        "subject_hint": first.subject_hint or again.subject_hint,
        "when": first.when or again.when,
        "confidence": max(stated, default=None),
    })  # fmt: skip
