"""Pairs of facts that say the same, and pairs that look like it and do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.consolidation.similarity import LEXICAL_FLOOR, Likeness, lexical, similarity

SAME = [
    ("Staging runs in region A.", "staging  runs in region a.", Likeness.EXACT),
    ("Ｓtaging runs in region A", "Staging runs in region A", Likeness.EXACT),
    ("The API uses Postgres", "The API uses Postgres.", Likeness.LEXICAL),
    ("The nightly backup takes 40 minutes.", "Nightly backups take 40 minutes", Likeness.LEXICAL),
    ("The nightly backup runs at 02:00", "A nightly backup runs at 02:00", Likeness.LEXICAL),
    ("Invoices are sent on the first Monday", "Invoices are sent on the first Monday!", Likeness.LEXICAL),
    ("Ana prefers 'dark mode'", "Ana prefers dark mode", Likeness.LEXICAL),
    ("The deploy keys are rotated monthly", "Deploy key is rotated monthly", Likeness.LEXICAL),
    ("数据库在法兰克福。", "数据库在法兰克福", Likeness.LEXICAL),
]

DIFFERENT = [
    ("The request timeout is 30 s", "The request timeout is 60 s"),
    ("The API listens on port 8080", "The API listens on port 8081"),
    ("Version 1.2.3 is deployed", "Version 1.2.4 is deployed"),
    ("Retries are enabled for webhooks", "Retries are not enabled for webhooks"),
    ("The cache does clear on deploy", "The cache doesn't clear on deploy"),
    ("Ana can approve refunds", "Ana cannot approve refunds"),
    ("Ana approved the refund", "Bruno approved the refund"),
    ("Ana lost her job at the bank", "Ana lost his job at the bank"),
    ("The team deploys on Monday", "The team deploys on Friday"),
    ("the team deploys on monday", "the team deploys on friday"),
    ("Set max_retries for uploads", "Set max_retry for uploads"),
    ("Import from src/api for handlers", "Import from src/app for handlers"),
    ("Staging runs in region A", "Staging runs in region B"),
    ("Staging runs in region A", "Staging runs in region"),
    ("Run the script with --force", "Run the script with --dry-run"),
    ("Traffic flows from staging to production", "Traffic flows from production to staging"),
    ("Ana reports to Bruno", "Bruno reports to Ana"),
    ("Ana was the manager of billing", "Ana is the manager of billing"),
    ("Ana has approved the budget", "Ana has been approved the budget"),
    ("The feature is on", "The feature is off"),
    ("The queue holds < 100 jobs", "The queue holds > 100 jobs"),
    ("The parser is written in C", "The parser is written in C++"),
    ("The API uses Postgres", "The API uses Postgres for billing"),
    ("Ana likes tea with milk", "Ana likes tea without milk"),
    ("The service restarts nightly", "The service restarts nightly in staging"),
    ("数据库在法兰克福运行", "数据库在都柏林运行"),
    ("我喜欢红色", "我喜欢蓝色"),
    ("O relatório não sai à segunda", "O relatório sai à segunda"),
    ("Is staging down?", "Staging down"),
]


@pytest.mark.parametrize(("a", "b", "kind"), SAME)
def test_says_the_same(a: str, b: str, kind: Likeness) -> None:
    assert similarity(a, b).kind is kind


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_looks_the_same_and_is_not(a: str, b: str) -> None:
    assert similarity(a, b).kind is Likeness.NONE


@pytest.mark.parametrize(
    ("a", "b", "cosine", "above", "kind"),
    [
        ("Ana prefers tea", "Tea is what Ana likes best", 0.95, 0.93, Likeness.COSINE),
        ("Ana prefers tea", "Tea is what Ana likes best", 0.93, 0.93, Likeness.NONE),
        ("Ana prefers tea", "Tea is what Ana likes best", 0.95, None, Likeness.NONE),
        ("Ana prefers tea", "Tea is what Ana likes best", None, 0.93, Likeness.NONE),
        ("Ana prefers tea", "Tea is what Bruno likes best", 0.99, 0.93, Likeness.NONE),
        ("Backups take 40 minutes", "A backup needs 45 minutes", 0.99, 0.93, Likeness.NONE),
        ("Retries are enabled", "Retrying is not switched on", 0.99, 0.93, Likeness.NONE),
        ("Use max_retries here", "The right setting is maxRetries", 0.99, 0.93, Likeness.NONE),
    ],
)
def test_meaning_counts_only_when_calibrated_and_guarded(
    a: str, b: str, cosine: float | None, above: float | None, kind: Likeness
) -> None:
    assert similarity(a, b, cosine=cosine, cosine_above=above).kind is kind


def test_most_look_alikes_reach_the_floor_so_that_the_guard_is_what_decides() -> None:
    assert sum(lexical(a, b) >= LEXICAL_FLOOR for a, b in DIFFERENT) > 20


@given(st.text(max_size=80), st.text(max_size=80))
def test_symmetric_and_bounded(a: str, b: str) -> None:
    assert similarity(a, b).kind is similarity(b, a).kind
    assert 0.0 <= lexical(a, b) <= 1.0


@given(st.text(max_size=80))
def test_every_text_repeats_itself(text: str) -> None:
    if "\ud800" <= max(text, default="") <= "\udfff":
        return
    assert similarity(text, text).kind is Likeness.EXACT
