"""A session through every stage, on the real services."""

from __future__ import annotations

from tests.fleet import Fleet, event


def test_a_stated_decision_becomes_a_recallable_memory(fleet: Fleet) -> None:
    fleet.database.org("acme")
    assert fleet.ingest(event("We decided to use Postgres for the search service because it has row locks.")) == []
    fleet.run()
    runs = fleet.rows("SELECT state FROM runs")
    assert [run["state"] for run in runs] == ["consolidated"]
    memories = fleet.rows("SELECT status, content, evidence FROM memories")
    assert [memory["status"] for memory in memories] == ["active"]
    assert "Postgres" in memories[0]["content"]
    assert fleet.rows("SELECT count(*) AS n FROM embeddings_1")[0]["n"] == 1
    assert fleet.rows("SELECT count(*) AS n FROM envelopes")[0]["n"] == 0
