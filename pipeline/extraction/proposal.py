"""What an agent proposes or notes skips the model: its text, turn 0, is the one candidate.

Never cut: a text over the limit is malformed, since half a sentence would be another claim.
"""

from __future__ import annotations

from pydantic import ValidationError

from pipeline.candidate import MAX_CONTENT_CHARACTERS, Candidate, Envelope, Evidence, Kind
from pipeline.extraction.port import ExtractionJob, Proposal
from pipeline.outcome import Bury, Done, ErrorCode
from pipeline.provenance import EndpointClass, Provenance

PROVENANCE = Provenance(provider="agent", model="none", endpoint_class=EndpointClass.LOCAL, prompt_revision="none")
RATIONALE = "Said by the agent itself through a door; it stands in no source that could be looked up again."
MAX_QUOTE_CHARACTERS = 500


def propose(job: ExtractionJob) -> Done[Proposal] | Bury:
    """The envelope of a proposal or note run; buried as malformed when turn 0 is missing, blank or too long."""
    text = job.transcript.turns[0].text.strip() if job.transcript.turns else ""
    if not text:
        return Bury(ErrorCode.MALFORMED_ENVELOPE, "turn 0 holds no text to propose")
    try:
        candidate = _candidate(text)
    except ValidationError:
        detail = f"turn 0 holds {len(text)} characters; a candidate holds at most {MAX_CONTENT_CHARACTERS}"
        return Bury(ErrorCode.MALFORMED_ENVELOPE, detail)
    return Done(Proposal(Envelope(candidates=(candidate,)), PROVENANCE))


def _candidate(text: str) -> Candidate:
    quote = text[:MAX_QUOTE_CHARACTERS].strip()
    return Candidate(content=text, kind=Kind.FACT, rationale=RATIONALE, evidence=(Evidence(turn=0, quote=quote),))
