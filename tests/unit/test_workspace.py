"""A workspace's file: what it may say, what applying it would change, and where an unfiled rule belongs."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.manifest import Namespace, NamespaceRefused, admit, file_under
from pipeline.memory import Scope, ScopeKind, content_hash
from pipeline.workspace import WorkspaceRefused, changes, parse

FILED = {"name": "review", "scope": "workflow=code-review", "rules": ["Ask for a test.", "ask for  a test."]}


def test_a_change_names_what_differs_and_what_is_new() -> None:
    wanted = parse({"namespaces": [FILED]})
    (new,) = changes(wanted, [], {})
    assert (new.is_new, new.rules, new.place.file) == (True, ("Ask for a test.",), "review.md")
    before = Namespace("review", Scope(ScopeKind.ORG), title="Old")
    (changed,) = changes(wanted, [before], {"review": {content_hash("Ask for a test.")}})
    assert set(changed.fields) == {"scope", "title"}
    assert changed.rules == ()
    (nothing,) = changes(wanted, [wanted.namespaces[0].place], {"review": {content_hash("Ask for a test.")}})
    assert nothing.is_nothing


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, "the document"),
        ([], "the document"),
        ({}, "namespaces"),
        ({"namespaces": [{"name": "Not a name"}]}, "namespaces.0.name"),
        ({"namespaces": [{"name": "a", "scope": "team"}]}, "neither org nor KIND=VALUE"),
        ({"namespaces": [{"name": "a", "scope": "org=x"}]}, "neither org nor KIND=VALUE"),
        ({"namespaces": [{"name": "a", "path": "../x"}]}, "below the workspace"),
        ({"namespaces": [{"name": "a", "path": "/etc/x"}]}, "path"),
        ({"namespaces": [{"name": "a", "rules": [" "]}]}, "1 to 2,000 characters"),
        ({"namespaces": [{"name": "a", "rules": ["x" * 2_001]}]}, "1 to 2,000 characters"),
        ({"namespaces": [{"name": "a"}, {"name": "a"}]}, "stand twice: a"),
        ({"namespaces": [{"name": "a", "status": "active"}]}, "status"),
    ],
)
def test_what_is_no_workspace_is_refused_with_its_place(document: Any, said: str) -> None:
    with pytest.raises(WorkspaceRefused, match=said):
        parse(document)


MANIFEST = [
    Namespace("default"),
    Namespace("refunds", description="refunds, returns and money paid back to a customer"),
    Namespace("code-review", title="Reviews of code", description="pull requests, tests, style"),
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Never promise refunds to a customer before the returns desk agrees.", "refunds"),
        ("Ask for tests in every review of code.", "code-review"),
        ("Greet people by their first name.", "default"),
        ("", "default"),
    ],
)
def test_a_rule_is_filed_where_its_words_say(text: str, name: str) -> None:
    assert file_under(text, MANIFEST) == name
    assert file_under(text, MANIFEST[::-1]) == name


def test_only_the_manifest_admits() -> None:
    assert admit("refunds", MANIFEST) == "refunds"
    with pytest.raises(NamespaceRefused, match="there are: default, refunds, code-review"):
        admit("refund", MANIFEST)
