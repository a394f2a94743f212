"""A workspace's file: an org's namespaces and the rules a person keeps in them, and what applying it would change.

namespaces:
  - name: review
    scope: workflow=code-review
    path: rules/review.md
    title: Code review
    preamble: What every review of this team looks at.
    agents: [reviewer]
    rules:
      - Ask for a test with every fix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipeline.errors import AfterwordError
from pipeline.manifest import Namespace
from pipeline.memory import Scope, ScopeKind, content_hash


class WorkspaceRefused(AfterwordError):
    """The file is not a workspace."""


class FiledNamespace(BaseModel):
    """A namespace as the file says it. `scope` is `org`, or KIND=VALUE."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,99}$")
    scope: str = "org"
    path: str = Field(default="", max_length=300, pattern=r"^[^/\\\x00-\x1f][^\\\x00-\x1f]*$|^$")
    title: str = Field(default="", max_length=200)
    description: str = Field(default="", max_length=2_000)
    preamble: str = Field(default="", max_length=4_000)
    agents: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @field_validator("scope")
    @classmethod
    def _scope(cls, text: str) -> str:
        kind, _, value = text.partition("=")
        if kind not in set(ScopeKind) or (kind == ScopeKind.ORG) == bool(value):
            raise ValueError(f"{text!r} is neither org nor KIND=VALUE with KIND of {', '.join(ScopeKind)}")
        return text

    @field_validator("path")
    @classmethod
    def _path(cls, text: str) -> str:
        if ".." in text.split("/"):
            raise ValueError("a path stays below the workspace")
        return text

    @field_validator("rules")
    @classmethod
    def _rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [rule[:40] for rule in rules if not rule.strip() or len(rule) > 2_000]:
            raise ValueError(f"a rule has 1 to 2,000 characters: {wrong[0]!r}")
        return tuple({content_hash(rule): rule.strip() for rule in reversed(rules)}.values())[::-1]

    @property
    def place(self) -> Namespace:
        kind, _, value = self.scope.partition("=")
        scope = Scope(ScopeKind(kind), value or None)
        return Namespace(self.name, scope, self.path, self.title, self.description, self.preamble, self.agents)


class Workspace(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespaces: tuple[FiledNamespace, ...]

    @field_validator("namespaces")
    @classmethod
    def _once(cls, places: tuple[FiledNamespace, ...]) -> tuple[FiledNamespace, ...]:
        names = [place.name for place in places]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"these namespaces stand twice: {', '.join(twice)}")
        return places


@dataclass(frozen=True, slots=True)
class Change:
    """What applying would do to one namespace: `fields` that change, each (before, after), and `rules` that are new."""

    place: Namespace
    is_new: bool
    fields: dict[str, tuple[Any, Any]]
    rules: tuple[str, ...]

    @property
    def is_nothing(self) -> bool:
        return not (self.is_new or self.fields or self.rules)


def parse(document: object) -> Workspace:
    """Raises WorkspaceRefused with the first fault and where it stands."""
    try:
        return Workspace.model_validate(document)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the document"
        raise WorkspaceRefused(f"{where}: {fault['msg'].removeprefix('Value error, ')}") from None


def changes(
    wanted: Workspace, manifest: Sequence[Namespace], standing: Mapping[str, Collection[bytes]]
) -> list[Change]:
    """By namespace, in the file's order. `standing`: the hashes of the rules that stand or wait in each."""
    known = {place.name: place for place in manifest}
    return [_change(filed, known.get(filed.name), standing.get(filed.name, ())) for filed in wanted.namespaces]


def _change(filed: FiledNamespace, before: Namespace | None, standing: Collection[bytes]) -> Change:
    after = filed.place
    names = ("scope", "path", "title", "description", "preamble", "agents")
    differing = {name: (getattr(before, name), getattr(after, name)) for name in names} if before else {}
    fields = {name: pair for name, pair in differing.items() if pair[0] != pair[1]}
    new = tuple(rule for rule in filed.rules if content_hash(rule) not in standing)
    return Change(after, before is None, fields, new)
