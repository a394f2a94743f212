"""Who calls: a bearer token whose role the route admits, within its rate. Whether it is alive the database says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from db.connect import Connection
from db.doors import NoGrant
from db.tokens import Grant, TokenRole, role_of
from gateway.gate import Gate
from gateway.problems import Problem

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token: afterword tokens create")


@dataclass(frozen=True)
class Caller:
    """A token that may use this route, and the way in with it."""

    role: TokenRole
    token: str
    gate: Gate

    @contextmanager
    def enter(self) -> Iterator[tuple[Connection, Grant]]:
        """One transaction as this caller. Raises NoGrant."""
        with self.gate.doors.enter(self.role, self.token) as entered:
            yield entered


class Admits:
    """A dependency: the roles whose tokens a route takes. The table of routes by roles is read from here."""

    def __init__(self, *roles: TokenRole) -> None:
        self.roles = roles

    def __call__(
        self, request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None
    ) -> Caller:
        role = role_of(given.credentials) if given else None
        if given is None or role is None:
            raise NoGrant
        if role not in self.roles:
            raise Problem(403, f"this is for {' and '.join(self.roles)} tokens; this one is of an {role}")
        gate: Gate = request.app.state.gate
        gate.rates.count(given.credentials)
        return Caller(role, given.credentials, gate)
