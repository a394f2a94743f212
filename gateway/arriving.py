"""A session as a door takes it, and the event it becomes: the org from the grant, everything scrubbed."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from db.tokens import Grant
from gateway.problems import Problem
from pipeline.errors import EventError
from pipeline.intake import Arrival, RejectReason, receive
from pipeline.session import ObjectRef, Role, SessionEnded, Transcript, Trust, Turn, event_key
from pipeline.transcripts import deflate

INLINE_BYTES: Final = 64 * 1024
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Session(BaseModel):
    """An ended session. What the token is bound to (agent, project, user, workflow) is filled in."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{
            "event_id": "e-2026-0114", "session": "s-1", "agent": "coder", "ended_at": "2026-05-04T10:00:00Z",
            "transcript": {"turns": [{"role": "user", "trust": "user", "text": "We chose Postgres for search."}]},
        }]},
    )  # fmt: skip

    event_id: Key | None = Field(None, description="yours; the same one twice is one run. Unset: made of what was said")
    session: Name
    agent: Name | None = None
    role: Annotated[str, Field(max_length=100)] | None = None
    parent_session: Name | None = None
    project: Name | None = None
    user: Name | None = None
    participants: list[Name] = Field(default=[], max_length=100)
    workflow: Name | None = None
    mission: Name | None = None
    object: ObjectRef | None = None
    spaces: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=50)
    ended_at: AwareDatetime
    outcome: Literal["succeeded", "failed", "unknown"] | None = None
    transcript: Transcript | None = None
    transcript_zstd: str | None = Field(None, description="the transcript's JSON, zstd and base64")


class Proposal(BaseModel):
    """One memory that an agent proposes, in a sentence or two."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "The staging host is stage-2.", "session": "s-1"}]}
    )

    text: Annotated[str, Field(min_length=1, max_length=2000)]
    session: Name = "proposals"
    agent: Name | None = None
    event_id: Key | None = None

    def as_session(self, at: datetime) -> Session:
        turn = Turn(role=Role.ASSISTANT, text=self.text, trust=Trust.AGENT)
        return Session(
            event_id=self.event_id, session=self.session, agent=self.agent, ended_at=at,
            transcript=Transcript(turns=(turn,)),
        )  # fmt: skip


class Taken(BaseModel):
    """The id to ask for: GET /v1/runs/{id}."""

    id: str
    session: str


def prepared(given: Session, grant: Grant, kind: str) -> tuple[bytes, Taken]:
    """The event's bytes for the stream, and its id. Raises Problem 403, 413, 422."""
    if unknown := sorted(set(given.spaces) - set(grant.spaces)):
        raise Problem(422, f"no such space: {len(unknown)} of those named")
    said = given.model_dump(mode="json", exclude_none=True) | _bound(given, grant) | {"org": grant.org, "kind": kind}
    if "agent" not in said:
        raise Problem(422, "agent: the token is bound to none, so the session must say whose it was")
    arrival = _received(json.dumps(said).encode())
    return _event(arrival), Taken(id=arrival.key, session=arrival.event.session)


def _bound(given: Session, grant: Grant) -> dict[str, str]:
    """What the grant fixes. Raises Problem 403 where the session says otherwise."""
    bound = {"agent": grant.agent, "project": grant.project, "user": grant.user_id, "workflow": grant.workflow}
    fixed = {name: value for name, value in bound.items() if value is not None}
    for name, value in fixed.items():
        if getattr(given, name) not in (None, value):
            raise Problem(403, f"{name}: the token is bound to another")
    return fixed


def _received(data: bytes) -> Arrival:
    try:
        return receive(data)
    except EventError as error:
        raise Problem(413 if error.reason == RejectReason.TOO_LARGE else 422, str(error)) from None
    except ValidationError:
        raise Problem(422, "the session is not one") from None


def _event(arrival: Arrival) -> bytes:
    """The same key as ingest will find: what is scrubbed stays as it is when it is scrubbed again."""
    fields: dict[str, Any] = arrival.event.model_dump(mode="json", exclude_none=True)
    body = arrival.transcript.model_dump_json(exclude_none=True).encode()
    if len(body) > INLINE_BYTES:
        fields["transcript_zstd"] = base64.b64encode(deflate(body)).decode()
    else:
        fields["transcript"] = json.loads(body)
    assert event_key(SessionEnded.model_validate(fields), arrival.content_hash) == arrival.key
    return json.dumps(fields, ensure_ascii=False).encode()
