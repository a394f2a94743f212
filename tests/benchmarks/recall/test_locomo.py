"""The benchmark of conversations over an invented one: through the real stages, asked, handed to the scorer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.recall.conversations import conversations
from tests.benchmarks.recall.locomo import SIDES, measure

TALK = [("Ana", "I planted two lemon trees behind the barn."), ("Rui", "My boat is called Gaivota and it leaks.")]
LATER = [("Rui", "The boat is dry again, the carpenter sealed it."), ("Ana", "The lemon trees have their first fruit.")]
SCORER = """
import json, sys
told = [json.loads(line) for line in open(sys.argv[2])]
wanted = [{e for e in qa["evidence"]} for qa in json.load(open(sys.argv[1]))[0]["qa"] if qa["category"] != 5]
right = sum(bool(set(row["turns"][:2]) & evidence) for row, evidence in zip(told, wanted, strict=True)) / len(told)
print(json.dumps({"missing": 0, "r1": right, "r5": right, "r10": right, "r20": right}))
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    said = {
        f"session_{n}": [{"speaker": who, "dia_id": f"D{n}:{i}", "text": text} for i, (who, text) in enumerate(talk, 1)]
        for n, talk in ((1, TALK), (2, LATER))
    }
    dates = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_2_date_time": "9:05 am on 2 June, 2023"}
    observed = {
        "session_1_observation": {"Ana": [["Ana planted two lemon trees behind the barn.", "D1:1"]]},
        "session_2_observation": {"Rui": [["Rui's boat was sealed by a carpenter.", ["D2:1", "D1:2"]]]},
    }
    asked = [
        {"question": "How many lemon trees did Ana plant?", "evidence": ["D1:1"], "category": 1},
        {"question": "What is the name of the boat of Rui?", "evidence": ["D1:2"], "category": 4},
        {"question": "What did nobody say?", "evidence": ["D1:2"], "category": 5},
        {"question": "Who sealed the boat?", "evidence": ["D2:1"], "category": 2},
    ]
    sample = {"conversation": {"speaker_a": "Ana", "speaker_b": "Rui", **said, **dates}, "observation": observed}
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "locomo_dev6.json").write_text(json.dumps([sample | {"qa": asked}]))
    (tmp_path / "score").mkdir()
    (tmp_path / "score" / "locomo.py").write_text(SCORER)
    return tmp_path


def test_turns_are_numbered_by_their_place_and_observations_cite_their_own_session(data: Path) -> None:
    [conversation] = conversations(data / "memory" / "locomo_dev6.json")
    first, second = conversation.talks
    assert (first.name, first.transcript.turns[1].name) == ("D1", "Rui")
    assert second.observations[0].turns == (0,)
    assert sorted(conversation.questions) == [0, 1, 3]


def test_every_question_finds_what_bears_its_answer(data: Path, tmp_path: Path) -> None:
    ranked = measure(data, tmp_path / "cache", SIDES[:1])
    assert ranked["locomo_r5"] == 1.0
    kept = ranked["locomo"]["facts and turns"]["kept"]
    assert kept["turn active"] == 4
    assert kept["fact active"] == 2
