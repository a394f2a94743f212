"""afterword tokens: who may come in by a door, as what, and until when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import typer

from db import tokens as store
from db.tokens import ROLES, VALIDATOR, Bearer, Minted
from ops.access import acting_as, actor, known_org
from ops.arguments import NotFound, OnlyOrg, OrgName, ahead
from ops.output import AsJson, document, rows
from pipeline.memory import Tier

app = typer.Typer(
    no_args_is_help=True, help="Tokens: created and shown once, listed, rotated with an overlap, revoked."
)

COLUMNS = ("id", "org", "role", "actor", "agent", "project", "user_id", "tiers", "expires_at", "last_used_at", "is")
EMPTY_HANDED = "it recalls nothing: a validator judges what other agents did, and must not judge by what they left it"

Id = Annotated[UUID, typer.Argument(help="its id: afterword tokens list")]


def _tiers(text: str | None) -> tuple[str, ...]:
    """`semantic=read,procedural=none` as the tiers that may be read; a tier that is not named may not."""
    said = dict(part.strip().partition("=")[::2] for part in (text or "").split(",") if part.strip())
    if unknown := set(said) - set(Tier):
        raise typer.BadParameter(f"no such tier: {', '.join(sorted(unknown))}; there are {', '.join(Tier)}")
    if unmeant := set(said.values()) - {"read", "none"}:
        raise typer.BadParameter(f"access is read or none, not {', '.join(sorted(map(repr, unmeant)))}")
    return tuple(tier for tier in Tier if said.get(tier) == "read")


def _role(text: str) -> str:
    if text not in ROLES:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(ROLES)}")
    return text


@app.command()
def create(
    org: OrgName,
    role: Annotated[str, typer.Option(help="agent, reviewer or operator: whose door it opens", callback=_role)],
    agent: Annotated[str | None, typer.Option(help="the agent it is for; of others it sees and sends nothing")] = None,
    project: Annotated[str | None, typer.Option(help="the project it is confined to")] = None,
    user: Annotated[str | None, typer.Option(help="the signed-in user it acts for")] = None,
    workflow: Annotated[str | None, typer.Option(help="the workflow it is confined to")] = None,
    agent_role: Annotated[str | None, typer.Option(help="what the agent is for; validator: recalls nothing")] = None,
    access: Annotated[
        str | None, typer.Option(metavar="TIER=read,...", help="what an agent may recall; a tier not named: nothing")
    ] = None,
    name: Annotated[str | None, typer.Option(help="whom the ledger names; unset: the agent, else the user")] = None,
    expires: Annotated[str, typer.Option(help="a span such as 12h or 90d, or an ISO time")] = "90d",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Make a token and print it, once: only its hash is kept.

    Example: afterword tokens create --org acme --role agent --agent coder --access semantic=read,procedural=read
    """
    if access and role != "agent":
        raise typer.BadParameter("only agents recall: --access goes with --role agent")
    named = name or agent or user
    if not named:
        raise typer.BadParameter("--name is needed: the ledger names who acts")
    bearer = Bearer(role, named, agent, user, project, workflow, _tiers(access), agent_role)  # type: ignore[arg-type]
    until = ahead(expires)
    found = known_org(org)
    with acting_as("operator") as conn:
        seconds = (until - datetime.now(UTC)).total_seconds()
        minted = store.create(conn, found.id, bearer, lives_seconds=seconds, minted_by=actor())
    _hand_over(minted, until, _conferring(bearer), as_json=as_json)


@app.command("list")
def list_(org: OnlyOrg = None, as_json: AsJson = False) -> None:
    """Tokens that were made, what each is for, and when it was last used, to the minute. No token is shown.

    Example: afterword tokens list --org acme
    """
    wanted = known_org(org).id if org else None
    with acting_as("operator") as conn:
        found = [row | {"is": _state(row)} for row in store.made(conn, wanted)]
    rows(found, COLUMNS, as_json=as_json, none="no tokens")


@app.command()
def revoke(token: Id, as_json: AsJson = False) -> None:
    """Take a token back: it opens nothing from now on. Repeating it is harmless.

    Example: afterword tokens revoke 0192f3a4-77aa-7000-8000-3f0d1c2b4a59
    """
    with acting_as("operator") as conn:
        done = store.revoke(conn, token, by=actor())
    document({"done": done}) if as_json else typer.echo(done.replace("_", " "))


@app.command()
def rotate(
    token: Id,
    overlap: Annotated[str, typer.Option(help="how long the old one still opens: 1h, 0s")] = "1h",
    as_json: AsJson = False,
) -> None:
    """Make a token with the same grant in the place of this one, which ends after the overlap. It is shown once.

    Example: afterword tokens rotate 0192f3a4-77aa-7000-8000-3f0d1c2b4a59 --overlap 12h
    """
    seconds = max(0.0, (ahead(overlap) - datetime.now(UTC)).total_seconds())
    with acting_as("operator") as conn:
        old = next((row for row in store.made(conn, None) if row["id"] == token), None)
        if old is None:
            raise NotFound(f"no token has the id {token}; see: afterword tokens list")
        minted = store.rotate(conn, token, old["role"], overlap_seconds=seconds, by=actor())
        until = next(row["expires_at"] for row in store.made(conn, None) if row["id"] == minted.id)
    _hand_over(minted, until, None, as_json=as_json)


def _conferring(bearer: Bearer) -> str | None:
    """What an agent's token gives it to recall; why nothing, where it is nothing."""
    if bearer.role != "agent":
        return None
    if bearer.agent_role == VALIDATOR:
        return EMPTY_HANDED
    if not bearer.conferred:
        return "it recalls nothing: no tier is named by --access"
    return f"it may recall what is {', '.join(bearer.conferred)}"


def _hand_over(minted: Minted, until: datetime, conferring: str | None, *, as_json: bool) -> None:
    if as_json:
        document({"id": minted.id, "token": minted.text, "expires_at": until, "access": conferring})
        return
    typer.echo(minted.text)
    typer.echo(f"token {minted.id}, until {until:%Y-%m-%d %H:%M} UTC; it is not shown again", err=True)
    if conferring:
        typer.echo(conferring, err=True)


def _state(row: dict[str, object]) -> str:
    """One word for whether it opens anything."""
    if row["revoked_at"]:
        return "revoked"
    expires = row["expires_at"]
    assert isinstance(expires, datetime)
    if expires <= datetime.now(UTC):
        return "expired"
    return "replaced" if row["replaced_by"] else "alive"
