"""From an event's bytes to a run about to be: parsed, its transcript opened, cut and scrubbed."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from pipeline.errors import EventError
from pipeline.formats.injected import cut_transcript
from pipeline.redaction.scrub import TurnMask, scrub, scrub_transcript
from pipeline.session import EventKind, SessionEnded, Transcript, event_key, transcript_hash
from pipeline.transcripts import inflate

MAX_EVENT_BYTES = 24 * 1024 * 1024
MAX_LEDGERED_MASKS = 50


class RejectReason(StrEnum):
    """Why an event could not become a run; closed, so that it can label a metric."""

    NOT_JSON = "not_json"
    BAD_EVENT = "bad_event"
    BAD_TRANSCRIPT = "bad_transcript"
    TOO_LARGE = "too_large"
    URL_NOT_ALLOWED = "url_not_allowed"
    UNKNOWN_ORG = "unknown_org"
    UNKNOWN_SPACE = "unknown_space"
    KEY_CONFLICT = "key_conflict"
    KILLS_WORKER = "kills_worker"


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event fit to be stored: nothing proven stands in it any more."""

    event: SessionEnded
    transcript: Transcript
    key: str
    content_hash: bytes
    masks: tuple[TurnMask, ...]

    def mask_detail(self) -> dict[str, Any]:
        """What the ledger says of the masks: counts by class, and where the first ones stand."""
        if not self.masks:
            return {}
        at = [f"{mask.cls}@{mask.turn}:{mask.offset}" for mask in self.masks[:MAX_LEDGERED_MASKS]]
        return {"classes": dict(Counter(mask.cls for mask in self.masks)), "at": at}


def receive(data: bytes) -> Arrival:
    """Raises EventError with a RejectReason; never with the content in its message."""
    if len(data) > MAX_EVENT_BYTES:
        raise EventError(RejectReason.TOO_LARGE, f"the event has {len(data):,} bytes; the limit is {MAX_EVENT_BYTES:,}")
    try:
        event = SessionEnded.model_validate_json(data)
    except ValidationError as error:
        raise _explained(error) from None
    transcript, _ = cut_transcript(_opened(event))
    transcript, masks = scrub_transcript(transcript)
    event = _scrubbed(event)
    return Arrival(event, transcript, event_key(event, transcript), transcript_hash(transcript), masks)


def _explained(error: ValidationError) -> EventError:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return EventError(RejectReason.NOT_JSON, first["msg"])
    where = ".".join(str(part) for part in first["loc"])
    reason = RejectReason.BAD_TRANSCRIPT if first["loc"][:1] == ("transcript",) else RejectReason.BAD_EVENT
    return EventError(reason, f"{where}: {first['msg']}")


def _opened(event: SessionEnded) -> Transcript:
    given = [event.transcript is not None, event.transcript_zstd is not None, event.transcript_url is not None]
    if sum(given) != 1:
        raise EventError(
            RejectReason.BAD_EVENT, "exactly one of transcript, transcript_zstd and transcript_url is needed"
        )
    if event.transcript is not None:
        return event.transcript
    if event.transcript_zstd is None:
        raise EventError(
            RejectReason.URL_NOT_ALLOWED, "no host is allowed to be fetched from; send the transcript inline"
        )
    try:
        body = inflate(base64.b64decode(event.transcript_zstd, validate=True))
        return Transcript.model_validate_json(body)
    except (ValueError, binascii.Error) as error:
        reason = RejectReason.TOO_LARGE if "over" in str(error) else RejectReason.BAD_TRANSCRIPT
        raise EventError(reason, f"transcript_zstd: {type(error).__name__}") from None


def _scrubbed(event: SessionEnded) -> SessionEnded:
    """The event's own texts are scrubbed like the transcript; names of orgs and keys are not free text."""
    texts = event.model_dump(
        include={"session", "agent", "role", "parent_session", "project", "user", "workflow", "mission"},
        exclude_none=True,
    )
    update: dict[str, Any] = {name: scrub(text).text for name, text in texts.items()}
    update["participants"] = tuple(scrub(name).text for name in event.participants)
    return event.model_copy(update=update | {"transcript": None, "transcript_zstd": None})


def first_own_turn(transcript: Transcript, earlier: list[tuple[int, bytes]]) -> int:
    """How many leading turns an earlier run of the session covered: the longest whose hash is this one's prefix."""
    for turns, covered in sorted(earlier, reverse=True):
        if turns < len(transcript.turns) and transcript_hash(Transcript(turns=transcript.turns[:turns])) == covered:
            return turns
    return 0


def is_kept(event: SessionEnded, extraction_on: bool) -> bool:
    """Whether the org keeps this transcript: with extraction off it keeps none but what agents propose."""
    return extraction_on or event.kind is not EventKind.SESSION
