"""A prompt is pinned by digest, and what it promises is what the parser accepts."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files

import pytest

from pipeline.candidate import Candidate, Envelope, Evidence
from pipeline.errors import MalformedEnvelope
from pipeline.extraction import envelope, prompts

FOLDER = files(prompts)
LOCK = json.loads(FOLDER.joinpath("prompts.lock").read_text())
PROMPTS = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".md") and entry.name.islower())


def test_every_prompt_is_pinned_and_nothing_else() -> None:
    assert sorted(LOCK) == PROMPTS


@pytest.mark.parametrize("name", PROMPTS)
def test_the_lock_holds_digest_and_revision(name: str) -> None:
    stem = name.removesuffix(".md")
    digest = hashlib.sha256(FOLDER.joinpath(name).read_bytes()).hexdigest()
    assert LOCK[name] == {"sha256": digest, "revision": f"{stem}@{digest[:12]}"}, "a changed prompt is pinned anew"
    assert prompts.load(stem).revision == LOCK[name]["revision"]


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        prompts.load("nobody-wrote-this")


def test_the_examples_in_the_prompt_parse() -> None:
    examples = re.findall(r'^\{"candidates".*\}$', prompts.load().text, re.MULTILINE)
    assert [len(envelope.parse(example).candidates) for example in examples] == [1, 0, 2]


@pytest.mark.parametrize("name", PROMPTS)
def test_the_changelog_says_why_the_revision_came(name: str) -> None:
    stem = name.removesuffix(".md")
    sections = re.split(r"^## ", FOLDER.joinpath("CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    told = {head: body.strip() for head, _, body in (section.partition("\n") for section in sections)}
    newest = next(revision for revision in told if revision.startswith(f"{stem}@"))
    assert newest == LOCK[name]["revision"], "a changed prompt says in CHANGELOG.md why it changed"
    assert told[newest]


def test_what_an_example_says_is_a_canary() -> None:
    prompt = prompts.load()
    assert len(prompt.canaries) == 4
    assert all(canary in prompt.text for canary in prompt.canaries)


@pytest.mark.parametrize("canary", prompts.load().canaries)
@pytest.mark.parametrize("form", ["{}", "They said: {} That was all.", "upper"])
def test_no_candidate_says_what_an_example_says(canary: str, form: str) -> None:
    text = canary.upper() if form == "upper" else form.format(canary)
    for content, quote in ((text, "something else"), ("Something else entirely.", text)):
        candidate = {"content": content, "kind": "fact", "rationale": "r", "evidence": [{"turn": 0, "quote": quote}]}
        answer = json.dumps({"candidates": [candidate]})
        assert len(envelope.parse(answer).candidates) == 1
        with pytest.raises(MalformedEnvelope, match=r"candidates\[0\] repeats an example"):
            envelope.parse(answer, prompts.load().canaries)


@pytest.mark.parametrize("model", [Envelope, Candidate, Evidence])
def test_the_prompt_names_every_field(model: type[Envelope] | type[Candidate] | type[Evidence]) -> None:
    text = prompts.load().text
    assert [name for name in model.model_fields if f"`{name}`" not in text and f'"{name}"' not in text] == []
