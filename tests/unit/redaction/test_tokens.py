"""Every provider's format, by samples made from its own pattern: found whole in any frame, and by no other text."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from pipeline.redaction.detectors.tokens import PATTERNS, TOKENS
from pipeline.redaction.rules import Rule
from pipeline.redaction.scrub import scrub
from tests.unit.redaction.sampler import sample

SAMPLES = 5
NOT_SAMPLED = {"jwt", "octopus_key", "bedrock_key", "facebook_app_token"}
"""Their checks or ends need more than a random string; test_secrets.py has them, or cases of their own below."""
FRAMES = [
    "{}",
    "the key is {}.",
    'KEY="{}"',
    "密钥{}。",
    '{{"a":"x\\n{}"}}',
    "https://host/path?q={}&x=1",
    "\x1b[32m{}\x1b[0m",
]


def genuine_samples(rule: Rule) -> list[str]:
    rng = random.Random(rule.name)
    made = (sample(rule.pattern, rng).strip() for _ in range(SAMPLES * 100))
    return [text for text in made if rule.genuine(text.encode())][:SAMPLES]


SAMPLED = [rule for rule in PATTERNS if rule.name not in NOT_SAMPLED]


@pytest.mark.parametrize("rule", SAMPLED, ids=lambda rule: rule.name)
def test_a_format_is_found_whole_wherever_it_stands(rule: Rule) -> None:
    samples = genuine_samples(rule)
    assert len(samples) == SAMPLES
    for text in (frame.format(token) for frame in FRAMES for token in samples):
        hits = [span for span in TOKENS.detect(text) if span.detector == rule.name]
        assert hits, text
        assert scrub(text).masks


@pytest.mark.parametrize("rule", SAMPLED, ids=lambda rule: rule.name)
def test_a_format_cut_short_is_none(rule: Rule) -> None:
    if not re.fullmatch(r".*\{\d+\}\\b", rule.pattern):
        pytest.skip("of no fixed length")
    for token in genuine_samples(rule):
        assert not [span for span in TOKENS.detect(f"key {token[:-2]}.") if span.detector == rule.name]


def test_names_are_one_each() -> None:
    assert [name for name, times in Counter(rule.name for rule in PATTERNS).items() if times > 1] == []


@pytest.mark.parametrize("rule", PATTERNS, ids=lambda rule: rule.name)
def test_what_a_rule_matches_begins_with_its_head(rule: Rule) -> None:
    rng = random.Random(rule.name)
    for _ in range(SAMPLES):
        text = sample(rule.pattern, rng)
        if re.match(rule.pattern, text):
            assert re.match(rule.head, text)
