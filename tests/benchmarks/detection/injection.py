"""What is held as `instruction_like`: real injections, and harmless prompts that bear trigger words.

    python -m tests.benchmarks.detection.injection DATA

Prints the bounded figures and, beside them, hits where nothing steers: deepset's harmless questions, sentences of real
sessions, observations of LoCoMo (what a memory store holds); and the share of those held as `high_stakes`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from pipeline.extraction.sentences import sentences
from pipeline.extraction.wording.instructions import steering
from pipeline.extraction.wording.stakes import stakes
from pipeline.formats import read
from pipeline.session import Role

SENTENCE_CHARS = range(40, 401)


def measure(data: Path) -> dict[str, float]:
    """injection_held: share of injections held; notinject_held: share of harmless prompts held. At least, at most."""
    injections = [row["text"] for row in _lines(data / "injection/deepset_train.jsonl") if row["label"] == 1]
    harmless = [row.get("prompt") or row["text"] for row in _lines(data / "injection/notinject_dev.jsonl")]
    return {"injection_held": _share(steering, injections), "notinject_held": _share(steering, harmless)}


def beside(data: Path) -> dict[str, float]:
    """The same, and high stakes, where nobody steers."""
    questions = [row["text"] for row in _lines(data / "injection/deepset_train.jsonl") if row["label"] == 0]
    texts = {
        "questions": questions,
        "code_sentences": _sentences(data, "claude-code", "codex", "pi", "swe-agent"),
        "chat_sentences": _sentences(data, "openai-chat"),
        "observations": _observations(data),
    }
    return {f"{name}_held": _share(steering, items) for name, items in texts.items()} | {
        f"{name}_high_stakes": _share(stakes, items) for name, items in texts.items()
    }


def _share(finds: Callable[[str], object], texts: Iterable[str]) -> float:
    found = [bool(finds(text)) for text in texts]
    return sum(found) / len(found)


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _sentences(data: Path, *programs: str) -> list[str]:
    """Distinct sentences of what was said, without tool output."""
    logs = (path for program in programs for path in sorted((data / "sessions" / program).iterdir()))
    turns = (turn for log in logs for turn in read(log.read_text(errors="replace")).transcript.turns)
    said = (turn.text for turn in turns if turn.role in (Role.USER, Role.ASSISTANT))
    found = (sentence.text for text in said for sentence in sentences(text))
    return list(dict.fromkeys(text for text in found if len(text) in SENTENCE_CHARS))


def _observations(data: Path) -> list[str]:
    talks = json.loads((data / "memory/locomo_dev6.json").read_text())
    by_speaker = (speakers for talk in talks for speakers in talk["observation"].values())
    return [text for speakers in by_speaker for facts in speakers.values() for text, _ in facts]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    print(json.dumps(measure(folder) | beside(folder), indent=1))
