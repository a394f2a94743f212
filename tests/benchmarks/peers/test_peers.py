"""What is compared finds what is there: our side of the search, on rows of the peers' size."""

from __future__ import annotations

import pytest

from ops.embedded.postgres import EmbeddedPostgres
from tests.benchmarks.peers.rows import rows
from tests.benchmarks.peers.sides import Searched, make_ours, our_search


def test_our_side_of_the_search_gives_the_nearest(postgres: EmbeddedPostgres) -> None:
    one = rows(300, 5)
    vector, hybrid = Searched(), Searched()
    with our_search(make_ours(postgres, one)) as search:
        for number in range(5):
            vector.add(*search(one, number, False), one.nearest[number])
            hybrid.add(*search(one, number, True), one.nearest[number])
    assert vector.flat("vector")["vector_recall_at_10"] == pytest.approx(1.0)
    assert len(hybrid.milliseconds) == 5
