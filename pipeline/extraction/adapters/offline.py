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
from pipeline.extraction.adapters.cues import CUES, OF_A_LIFE, Cue
from pipeline.extraction.adapters.wording import Wording
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal, Usage
from pipeline.extraction.sentences import Sentence, sentences
from pipeline.outcome import Done
from pipeline.provenance import EndpointClass, Provenance
from pipeline.session import Role, Transcript, Trust, Turn, normalised

MAX_CANDIDATES_A_SESSION = 12
"""A reviewer reads a dozen; where more fit, earlier cues of the table win, then earlier sentences."""

MIN_WORDS, MAX_CHARACTERS = 4, 400
"""Shorter says too little on its own; longer is no sentence but a paste."""

_SPOKEN_ABOUT = re.compile(r"`[^`\n]*`|\"[^\"\n]{3,}\"|“[^”\n]{3,}”|«[^»\n]{3,}»")


_PATTERNS = [(cue, Wording(cue.patterns)) for cue in CUES]
_OF_A_LIFE = [(cue, Wording(cue.patterns)) for cue in OF_A_LIFE]
_RANK = {cue.name: rank for rank, cue in enumerate((*CUES, *OF_A_LIFE))}
_CONSTRAINT = next(cue for cue in CUES if cue.name == "user-constraint")
_NOT_SAID = Wording(cues.HEDGED, cues.ASKED)
_UNFIT = Wording(cues.HEDGED, cues.ASKED, cues.NARRATED, cues.DANGLING, cues.PASSING)
_REFUSED, _WITHDRAWN = Wording(cues.REFUSED), Wording(cues.WITHDRAWN)
_PRESUPPOSED, _REASON, _HEAD = (re.compile(p, re.IGNORECASE) for p in (cues.PRESUPPOSED, cues.REASON, cues.HEAD))
_CONDITION = Wording((cues.CONDITION,))
_HEADING = re.compile(r"^#{1,5} ", re.MULTILINE)
_FIRST_OR_SECOND_PERSON = re.compile(
    r"(?<![\w-])(?:i|me|my|mine|you|your|ich|mir|mein\w*|yo|mi|je|j'\w+|mon|ma|mes|eu|meu|minha)(?![\w-])"
)
_WORDING = (CUES, OF_A_LIFE, _UNFIT, _REFUSED, _WITHDRAWN, cues.PRESUPPOSED, cues.REASON, cues.HEAD)
REVISION = "rules@" + hashlib.sha256(repr(_WORDING).encode()).hexdigest()[:12]
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
    best = sorted(found, key=lambda item: _RANK[item[2].name])[:MAX_CANDIDATES_A_SESSION]
    best.sort(key=lambda item: item[0])
    return Envelope(candidates=tuple(_candidate(transcript.turns[item[0]], *item) for item in best))


def _found(transcript: Transcript, first_own: int) -> Iterator[Found]:
    talk = _is_talk(transcript)
    for number in range(first_own, len(transcript.turns)):
        turn = transcript.turns[number]
        if turn.trust is not Trust.UNTRUSTED and _stands(transcript, number):
            for sentence in sentences(_spoken(turn)):
                found = heard(sentence, turn.role, talk=talk)
                if found:
                    yield number, *found


def _is_talk(transcript: Transcript) -> bool:
    """Did people only talk? Nobody was set up to do anything, nothing was done, and no code was shown."""
    return not any(turn.role in (Role.TOOL, Role.SYSTEM) or "`" in turn.text for turn in transcript.turns)


def _spoken(turn: Turn) -> str:
    """A person's words up to the first heading: what has headings is a document, which stands somewhere else."""
    heading = _HEADING.search(turn.text) if turn.role is Role.USER else None
    return turn.text[: heading.start()] if heading else turn.text


def _stands(transcript: Transcript, number: int) -> bool:
    """A person's word stands unless taken back next; an agent's if it was the last before a person's, who took it."""
    role, later = transcript.turns[number].role, transcript.turns[number + 1 :]
    if role is Role.USER:
        following = next((turn for turn in later if turn.role is Role.USER), None)
        return following is None or not _WITHDRAWN.fits(normalised(following.text))
    following = next((turn for turn in later if turn.role in (Role.USER, Role.ASSISTANT)), None)
    if following is None:
        return True
    return following.role is Role.USER and not _REFUSED.fits(normalised(following.text))


def heard(sentence: Sentence, role: Role, *, talk: bool = False) -> tuple[Sentence, Cue] | None:
    """What of a sentence can stand alone, and the first cue of the table that fits it, for this speaker."""
    words = len(sentence.text.split())
    if words < MIN_WORDS or len(sentence.quote) > MAX_CHARACTERS:
        return None
    shown = normalised(_SPOKEN_ABOUT.sub(" … ", sentence.text)).replace("’", "'")
    if _UNFIT.fits(shown):
        return _part(sentence, shown, talk=talk) if role is Role.USER else None
    if role is Role.ASSISTANT and _FIRST_OR_SECOND_PERSON.search(shown):
        return None
    table = (*_PATTERNS, *_OF_A_LIFE) if talk and words > MIN_WORDS else _PATTERNS
    return next(((sentence, cue) for cue, wording in table if cue.role is role and wording.fits(shown)), None)


def _part(sentence: Sentence, shown: str, *, talk: bool) -> tuple[Sentence, Cue] | None:
    """What holds whatever the rest of the sentence asks or guesses: the clause is the text, the sentence the quote."""
    given = _PRESUPPOSED.search(sentence.text)
    if given:
        return _clause(sentence, given), _CONSTRAINT
    if _CONDITION.fits(shown):
        return None
    parts = [_HEAD.search(sentence.text), None if _NOT_SAID.fits(shown) else _REASON.search(sentence.text)]
    found = (heard(_clause(sentence, part), Role.USER, talk=talk) for part in parts if part)
    return next((one for one in found if one), None)


def _clause(sentence: Sentence, found: re.Match[str]) -> Sentence:
    clause = found["what"]
    return Sentence(sentence.quote, clause[:1].upper() + clause[1:])


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
