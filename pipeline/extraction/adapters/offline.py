"""The `offline` extractor: rules without a model, named as such in every provenance.

It keeps sentences in which somebody decides, limits, prefers or states something, and what an agent's concluding
answer says about a cause that was found. It does not understand: what it cannot tell apart by wording it leaves out,
since a wrong memory costs more than a missing one.

    turn --> sentences --> not asked, hedged, narrated or dangling --> first cue that fits --> candidate
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from uuid import UUID

from pipeline.candidate import Candidate, Envelope, Evidence
from pipeline.extraction.adapters import cues
from pipeline.extraction.adapters.cues import CUES, Cue
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal, Usage
from pipeline.extraction.sentences import Sentence, sentences
from pipeline.outcome import Done
from pipeline.provenance import EndpointClass, Provenance
from pipeline.session import Role, Transcript, Trust, Turn, normalised

MAX_CANDIDATES_A_SESSION = 12
"""A reviewer reads a dozen; where more fit, earlier cues of the table win, then earlier sentences."""

MIN_WORDS, MAX_CHARACTERS = 5, 400
"""Shorter says too little on its own; longer is no sentence but a paste."""

_SPOKEN_ABOUT = re.compile(r"`[^`\n]*`|\"[^\"\n]{3,}\"|“[^”\n]{3,}”|«[^»\n]{3,}»")


def _any(*tables: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for table in tables for pattern in table))


_PATTERNS = [(cue, _any(cue.patterns)) for cue in CUES]
_UNFIT = _any(cues.HEDGED, cues.ASKED, cues.NARRATED, cues.DANGLING, cues.PASSING)
_REFUSED = _any(cues.REFUSED)
_FIRST_OR_SECOND_PERSON = re.compile(r"(?<![\w-])(?:i|me|my|mine|you|your|ich|mir|yo|je)(?![\w-])")
REVISION = "rules@" + hashlib.sha256(repr((CUES, _UNFIT.pattern, _REFUSED.pattern)).encode()).hexdigest()[:12]
PROVENANCE = Provenance(provider="offline", model="rules", endpoint_class=EndpointClass.LOCAL, prompt_revision=REVISION)

Found = tuple[int, Sentence, Cue]


class OfflineExtractor:
    """The port `Extractor` without a model: every run is done, at once, with what the rules found."""

    @property
    def provider(self) -> str:
        return PROVENANCE.provider

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            yield job.run_id, Done(Proposal(extract(job.transcript, job.first_own), PROVENANCE, Usage()))


def extract(transcript: Transcript, first_own: int = 0) -> Envelope:
    """At most `MAX_CANDIDATES_A_SESSION` candidates, in order of turns."""
    found = _distinct(_found(transcript, first_own))
    best = sorted(found, key=lambda item: CUES.index(item[2]))[:MAX_CANDIDATES_A_SESSION]
    best.sort(key=lambda item: item[0])
    return Envelope(candidates=tuple(_candidate(transcript.turns[item[0]], *item) for item in best))


def _found(transcript: Transcript, first_own: int) -> Iterator[Found]:
    for number in range(first_own, len(transcript.turns)):
        turn = transcript.turns[number]
        if turn.trust is Trust.UNTRUSTED or (turn.role is Role.ASSISTANT and not _stands(transcript, number)):
            continue
        for sentence in sentences(turn.text):
            cue = heard(sentence, turn.role)
            if cue:
                yield number, sentence, cue


def _stands(transcript: Transcript, number: int) -> bool:
    """Is it the agent's last word before a person's, and not turned down by it? Claims on the way are often revised."""
    later = (turn for turn in transcript.turns[number + 1 :] if turn.role in (Role.USER, Role.ASSISTANT))
    following = next(later, None)
    if following is None:
        return True
    return following.role is Role.USER and not _REFUSED.search(normalised(following.text))


def heard(sentence: Sentence, role: Role) -> Cue | None:
    """The first cue of the table that fits a sentence of this speaker, if it can stand alone."""
    if len(sentence.text.split()) < MIN_WORDS or len(sentence.text) > MAX_CHARACTERS:
        return None
    shown = normalised(_SPOKEN_ABOUT.sub(" … ", sentence.text)).replace("’", "'")
    if _UNFIT.search(shown) or (role is Role.ASSISTANT and _FIRST_OR_SECOND_PERSON.search(shown)):
        return None
    return next((cue for cue, pattern in _PATTERNS if cue.role is role and pattern.search(shown)), None)


def _distinct(found: Iterator[Found]) -> list[Found]:
    """Without repeats: the same words in any order. Nothing looser, one other word makes another fact."""
    kept: dict[frozenset[str], Found] = {}
    for item in found:
        kept.setdefault(frozenset(re.findall(r"\w+", normalised(item[1].text))), item)
    return list(kept.values())


def _candidate(turn: Turn, number: int, sentence: Sentence, cue: Cue) -> Candidate:
    return Candidate(
        content=_content(sentence, turn.role),
        kind=cue.kind,
        rationale=f"Rule {cue.name}: {cue.why}.",
        evidence=(Evidence(turn=number, quote=sentence.quote),),
        when=turn.at,
    )


def _content(sentence: Sentence, role: Role) -> str:
    """The sentence; with its speaker where "I" or "you" would otherwise lose whom they mean."""
    if role is Role.USER and _FIRST_OR_SECOND_PERSON.search(sentence.text.casefold().replace("’", "'")):
        return f"The user said: “{sentence.text}”"
    return sentence.text
