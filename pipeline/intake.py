"""From an event's bytes to a run about to be: parsed, its transcript opened, cut and scrubbed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from pipeline.errors import EventError
from pipeline.formats.injected import cut_transcript
from pipeline.redaction.scrub import Mask, TurnMask, scrub, scrub_raw, scrub_transcript, standing_masks
from pipeline.session import EventKind, SessionEnded, Transcript, event_key, storable, transcript_hash
from pipeline.transcripts import Overlong, deflate, inflate, is_zstd

MAX_EVENT_BYTES = 24 * 1024 * 1024
MAX_KEPT_BYTES = 4 * MAX_EVENT_BYTES  # masks and re-encoding lengthen a copy, never so much
MAX_LEDGERED_MASKS = 50
YEARS = range(1900, 9000)

_UNSTORABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""A JSON escape that may stand for NUL or half of a surrogate pair."""
_ASCII_ESCAPE = re.compile(rb"\\u00([2-7][0-9a-fA-F])")
"""A JSON escape of a plain character, behind which a secret would hide where the JSON around it is broken."""


class RejectReason(StrEnum):
    """Why an event could not become a run; closed, so that it can label a metric."""

    NOT_JSON = "not_json"
    BAD_EVENT = "bad_event"
    BAD_TRANSCRIPT = "bad_transcript"
    TOO_LARGE = "too_large"
    URL_NOT_ALLOWED = "url_not_allowed"
    URL_UNAVAILABLE = "url_unavailable"  # the one that may pass by itself: worth a replay
    UNKNOWN_ORG = "unknown_org"
    UNKNOWN_SPACE = "unknown_space"
    KEY_CONFLICT = "key_conflict"
    KILLS_WORKER = "kills_worker"


Fetch = Callable[[str], bytes]
"""What stands at an `https:` address: at most `MAX_TRANSCRIPT_BYTES` as sent. Raises EventError."""

_TEXTS = {"session", "agent", "role", "parent_session", "project", "user", "workflow", "mission"}


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event fit to be stored: nothing proven stands in it any more. `named_masks` stand in fields and tool names."""

    event: SessionEnded
    transcript: Transcript
    key: str
    content_hash: bytes
    masks: tuple[TurnMask, ...]
    named_masks: tuple[tuple[str, Mask], ...]

    def mask_detail(self) -> dict[str, Any]:
        """What the ledger says of the masks: counts by class, and where the first ones stand."""
        where = [(mask.cls, str(mask.turn), mask.offset) for mask in self.masks]
        where += [(mask.cls, name, mask.offset) for name, mask in self.named_masks]
        if not where:
            return {}
        at = [f"{cls}@{place}:{offset}" for cls, place, offset in where[:MAX_LEDGERED_MASKS]]
        return {"classes": dict(Counter(cls for cls, _, _ in where)), "at": at}


def fetch_nothing(url: str) -> bytes:
    """Where no host is allowed."""
    raise EventError(RejectReason.URL_NOT_ALLOWED, "no host is allowed to be fetched from; send the transcript inline")


def receive(data: bytes, fetch: Fetch = fetch_nothing) -> Arrival:
    """Raises EventError with a RejectReason; never with the content in its message.

    `fetch` is asked once, for an event that names its transcript by address.
    """
    if len(data) > MAX_EVENT_BYTES:
        raise EventError(RejectReason.TOO_LARGE, f"the event has {len(data):,} bytes; the limit is {MAX_EVENT_BYTES:,}")
    try:
        event = SessionEnded.model_validate_json(_storable_json(data))
    except ValidationError as error:
        raise _explained(error) from None
    transcript, _ = cut_transcript(_opened(event, fetch))
    if event.kind is not EventKind.SESSION:
        transcript = Transcript(turns=tuple(turn.by_an_agent() for turn in transcript.turns))
    _check_times(event, transcript)
    transcript, masks = scrub_transcript(transcript)
    event = _scrubbed(event)
    content = transcript_hash(transcript)
    key = event_key(event, content)
    return Arrival(event, transcript, key, content, masks, tuple(_named_masks(event, transcript)))


def _check_times(event: SessionEnded, transcript: Transcript) -> None:
    """In UTC a time of the first or last year may lie where no client can read it back."""
    if event.ended_at.year not in YEARS:
        raise EventError(RejectReason.BAD_EVENT, f"ended_at: the year {event.ended_at.year} is none of ours")
    for number, turn in enumerate(transcript.turns):
        if turn.at and turn.at.year not in YEARS:
            raise EventError(RejectReason.BAD_TRANSCRIPT, f"turns.{number}.at: the year {turn.at.year} is none of ours")


def kept_copy(data: bytes) -> bytes:
    """What may be kept of an event that was refused: scrubbed in every value, and within a packed transcript too.

    A packed transcript that cannot be opened cannot be scrubbed: its digest and size are kept. Of an event over
    `MAX_EVENT_BYTES` that much is kept.
    """
    data = data[:MAX_EVENT_BYTES]
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return scrub_raw(_ASCII_ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), data)).encode()
    # Once more as a whole, since what proves a number may stand in the name of its field.
    return scrub_raw(json.dumps(_scrubbed_value(value), ensure_ascii=False)).encode()


def _scrubbed_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {scrub_raw(key): _packed(item) if key == "transcript_zstd" and isinstance(item, str)
                else _scrubbed_value(item) for key, item in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [_scrubbed_value(item) for item in value]
    if isinstance(value, str):
        return scrub_raw(value)
    masked = scrub_raw(json.dumps(value))
    return value if masked == json.dumps(value) else masked


def _packed(text: str) -> str:
    try:
        body = kept_copy(inflate(base64.b64decode(text, validate=True)))
    except ValueError:
        return f"not kept: sha256 {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}, {len(text)} characters"
    return base64.b64encode(deflate(body)).decode()


def _storable_json(data: bytes) -> bytes:
    """`data` with NUL and lone surrogates of its strings made visible; what is no JSON comes back as it is."""
    if not _UNSTORABLE.search(data):
        return data
    try:
        return json.dumps(_storable_value(json.loads(data)), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return data


def _storable_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {storable(key): _storable_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable_value(item) for item in value]
    return storable(value) if isinstance(value, str) else value


def _explained(error: ValidationError) -> EventError:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return EventError(RejectReason.NOT_JSON, first["msg"])
    # Part by part, as names may be anyone's words: behind a dot, a card's number looks like a fraction.
    where = ".".join(scrub_raw(str(part)) for part in first["loc"])
    reason = RejectReason.BAD_TRANSCRIPT if first["loc"][:1] == ("transcript",) else RejectReason.BAD_EVENT
    return EventError(reason, f"{where}: {first['msg']}")


def _opened(event: SessionEnded, fetch: Fetch) -> Transcript:
    given = [event.transcript is not None, event.transcript_zstd is not None, event.transcript_url is not None]
    if sum(given) != 1:
        raise EventError(
            RejectReason.BAD_EVENT, "exactly one of transcript, transcript_zstd and transcript_url is needed"
        )
    if event.transcript is not None:
        return event.transcript
    if event.transcript_url is not None:
        body = fetch(event.transcript_url)
        return _read("transcript_url", _inflated("transcript_url", body) if is_zstd(body) else body)
    try:
        body = base64.b64decode(event.transcript_zstd or "", validate=True)
    except ValueError:
        raise EventError(RejectReason.BAD_TRANSCRIPT, "transcript_zstd: not base64") from None
    return _read("transcript_zstd", _inflated("transcript_zstd", body))


def _inflated(field: str, body: bytes) -> bytes:
    try:
        return inflate(body)
    except ValueError as error:
        reason = RejectReason.TOO_LARGE if isinstance(error, Overlong) else RejectReason.BAD_TRANSCRIPT
        raise EventError(reason, f"{field}: {error}") from None


def _read(field: str, body: bytes) -> Transcript:
    try:
        return Transcript.model_validate_json(_storable_json(body))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        loc = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]  # its name is anyone's words
        where = ".".join(str(part) for part in (field, *loc))
        raise EventError(RejectReason.BAD_TRANSCRIPT, f"{where}: {first['msg']}") from None


def _scrubbed(event: SessionEnded) -> SessionEnded:
    """The event's own texts are scrubbed like the transcript; names of orgs and spaces must be known as they are."""
    texts = event.model_dump(include=_TEXTS, exclude_none=True)
    update: dict[str, Any] = {name: scrub(text).text for name, text in texts.items()}
    update["participants"] = tuple(scrub(name).text for name in event.participants)
    if event.object:
        parts = {"type": scrub(event.object.type).text, "id": scrub(event.object.id).text}
        update["object"] = event.object.model_copy(update=parts)
    if event.event_id and scrub(event.event_id).text != event.event_id:  # a mask would make two ids one
        update["event_id"] = "sha256:" + hashlib.sha256(event.event_id.encode()).hexdigest()
    return event.model_copy(update=update | {"transcript": None, "transcript_zstd": None, "transcript_url": None})


def _named_masks(event: SessionEnded, transcript: Transcript) -> Iterator[tuple[str, Mask]]:
    texts = list(event.model_dump(include=_TEXTS, exclude_none=True).items())
    texts += [("participants", name) for name in event.participants]
    texts += [("object", text) for text in (event.object.type, event.object.id)] if event.object else []
    texts += [(f"tool.{number}", turn.tool) for number, turn in enumerate(transcript.turns) if turn.tool]
    texts += [(f"name.{number}", turn.name) for number, turn in enumerate(transcript.turns) if turn.name]
    for name, text in texts:
        for mask in standing_masks(text):
            yield name, mask


def first_own_turn(transcript: Transcript, earlier: list[tuple[int, bytes]]) -> int:
    """How many leading turns an earlier run of the session covered: the longest whose hash is this one's prefix."""
    for turns, covered in sorted(earlier, reverse=True):
        if turns < len(transcript.turns) and transcript_hash(Transcript(turns=transcript.turns[:turns])) == covered:
            return turns
    return 0


def is_kept(event: SessionEnded, extraction_on: bool) -> bool:
    """Whether the org keeps this transcript: with extraction off it keeps none but what agents propose."""
    return extraction_on or event.kind is not EventKind.SESSION
