"""A prompt is pinned by digest, and what it promises is what the parser accepts."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files

import pytest

from pipeline.candidate import Candidate, Envelope, Evidence
from pipeline.extraction import envelope, prompts

FOLDER = files(prompts)
LOCK = json.loads(FOLDER.joinpath("prompts.lock").read_text())
PROMPTS = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".md"))


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
    examples = re.findall(r"^\{.*\}$", prompts.load().text, re.MULTILINE)
    assert [len(envelope.parse(example).candidates) for example in examples] == [1, 0]


@pytest.mark.parametrize("model", [Envelope, Candidate, Evidence])
def test_the_prompt_names_every_field(model: type[Envelope] | type[Candidate] | type[Evidence]) -> None:
    text = prompts.load().text
    assert [name for name in model.model_fields if f"`{name}`" not in text and f'"{name}"' not in text] == []
