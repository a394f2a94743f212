"""How a recall ranks: words by rarity, turns by their neighbours, a fact with the turns it cites; what is no hit."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from db import embedding, recall
from db.connect import Connection
from db.events import Org
from db.recall import Narrowing, Question, QuestionRefused
from pipeline.memory import Scope, ScopeKind, Subject, Tier
from pipeline.recall.hit import Recall
from tests.integration.db import rows
from tests.integration.db.test_recall import STAMP, vector
from tests.services import Database


def ask(database: Database, org: Org, text: str, *, narrowed: Narrowing | None = None, **question: Any) -> Recall:
    bearer = {"agent": "a-1", "user": "u-1", "project": "acme", "tiers": ("episodic", "semantic", "procedural")}
    with rows.door(database, rows.token(database, org, "agent", **bearer), "agent") as conn:
        return recall.recall(conn, Question(text, narrowed=narrowed or Narrowing(), **question))


def contents(found: Recall) -> list[str]:
    return [hit.content for hit in found.hits]


def turn(conn: Connection, org: Org, run: UUID, number: int, text: str) -> UUID:
    said = [{"turn": number, "quote": text}]
    return rows.insert_memory(conn, org, text, run=run, kind="turn", tier=Tier.EPISODIC, evidence=said, importance=1)


def test_a_rare_word_counts_for_more_than_common_ones(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        for number in range(30):
            rows.insert_memory(conn, org, f"the deploy job of service {number} runs at night")
        rows.insert_memory(conn, org, "somebody keeps an axolotl")
    found = ask(shared, org, "does the axolotl deploy service jobs?", max_hits=3)
    assert contents(found)[0] == "somebody keeps an axolotl"


def test_a_turn_is_found_by_what_its_neighbours_say(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run, other = rows.insert_run(conn, org, session="s-9"), rows.insert_run(conn, org)
        turn(conn, org, run, 3, "Ana: where did you put the sextant?")
        answer = turn(conn, org, run, 4, "Bo: under the stairs")
        turn(conn, org, run, 9, "Bo: nothing to do with it")
        turn(conn, org, other, 4, "Bo: of another session")
    found = ask(shared, org, "sextant")
    assert [(hit.session, hit.turns) for hit in found.hits] == [("s-9", (3,)), ("s-9", (4,))]
    assert found.hits[1].memory_id == answer
    assert found.hits[0].combined_score > found.hits[1].combined_score


def test_a_turn_stands_in_the_place_of_the_fact_that_cites_it(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org, session="s-9")
        turn(conn, org, run, 3, "Ana: the sextant sextant is under the stairs")
        turn(conn, org, run, 8, "Ana: sextant again")
        fact = rows.insert_memory(conn, org, "A sextant is kept under the stairs", run=run,
                                  evidence=[{"turn": 3, "quote": "x"}, {"turn": 5, "quote": "y"}])  # fmt: skip
        stranger = rows.insert_memory(conn, org, "Of another session, a sextant", evidence=[{"turn": 3, "quote": "x"}])
    found = ask(shared, org, "sextant stairs")
    assert {hit.memory_id: hit.turns for hit in found.hits if hit.kind == "fact"} == {fact: (3, 5), stranger: (3,)}
    assert [hit.turns for hit in found.hits if hit.kind == "turn"] == [(8,)]


def calibrate(database: Database) -> None:
    with rows.as_admin(database) as admin:
        admin.execute("INSERT INTO calibrations (stamp, side, source, pairs, seed, p50, p90, p99, p999, mean, sd) "
                      "VALUES (1, 'query', 'installation', 1, 1, 0.4, 0.5, 0.6, 0.7, 0.4, 0.1)")  # fmt: skip


def embedded(conn: Connection, org: Org, text: str, cosine: float) -> UUID:
    """A memory whose vector has this cosine with vector(1)."""
    memory = rows.insert_memory(conn, org, text)
    embedding.insert(conn, 1, [memory], vector(cosine, float(np.sqrt(1 - cosine**2)))[np.newaxis])
    return memory


def test_no_nearer_than_unrelated_pairs_is_no_hit_unless_it_has_a_word(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        near, far = embedded(conn, org, "near by meaning", 0.8), embedded(conn, org, "too far", 0.55)
        said = embedded(conn, org, "far with the word sextant", 0.2)
    assert {hit.memory_id for hit in ask(database, org, "sextant", vector=vector(1), stamp=1).hits} == {near, far, said}
    calibrate(database)
    found = ask(database, org, "sextant", vector=vector(1), stamp=1)
    assert {hit.memory_id for hit in found.hits} == {near, said}
    assert found.mode == "hybrid"
    hit = next(hit for hit in found.hits if hit.memory_id == said)
    assert hit.vector_score == pytest.approx(0.2, abs=1e-5)
    assert ask(database, org, "zebra", vector=vector(0, 0, 1), stamp=1).mode == "newest"


def test_the_mode_says_which_leg_found_something(database: Database) -> None:
    org = database.org("acme")
    calibrate(database)
    with database.as_role("worker") as conn:
        embedded(conn, org, "near by meaning", 0.9)
    assert ask(database, org, "zebra", vector=vector(1), stamp=1).mode == "vector"
    assert ask(database, org, "meaning", vector=vector(0, 0, 1), stamp=1).mode == "lexical"
    assert ask(database, org, "meaning", vector=vector(1), stamp=1).mode == "hybrid"
    recorded = {"vector", "lexical", "hybrid"}
    with database.as_role("worker") as conn:
        assert {row["mode"] for row in conn.execute("SELECT mode FROM recalls")} == recorded


def test_weighted_is_deviations_from_unrelated_and_two_fifths_of_the_words(database: Database) -> None:
    org = database.org("acme")
    calibrate(database)
    with database.as_role("worker") as conn:
        embedded(conn, org, "a sextant", 0.9)
    (hit,) = ask(database, org, "sextant", vector=vector(1), stamp=1).hits
    assert hit.lexical_score is not None
    wanted = (0.9 - 0.4) / 0.1 + 0.4 * hit.lexical_score + 0.05 * 2
    assert hit.combined_score == pytest.approx(wanted, abs=0.1)
    (ranked,) = ask(database, org, "sextant", vector=vector(1), stamp=1, fusion="rrf").hits
    assert ranked.combined_score == pytest.approx(2 / 61, rel=1e-5)


@pytest.mark.parametrize(
    ("narrowed", "wanted"),
    [
        (Narrowing(kinds=("preference",)), {"pref"}),
        (Narrowing(kinds=()), set()),
        (Narrowing(scope_kind="project"), {"acme", "acme/web"}),
        (Narrowing(scope_kind="project", scope_path="acme"), {"acme"}),
        (Narrowing(scope_kind="project", scope_path="ac"), set()),
        (Narrowing(subject=Subject("user", "u-1")), {"about"}),
        (Narrowing(subject=Subject("person", "u-1")), set()),
        (Narrowing(since=rows.OBSERVED + timedelta(days=1)), {"late"}),
        (Narrowing(until=rows.OBSERVED), set()),
        (Narrowing(since=rows.OBSERVED, until=rows.OBSERVED + timedelta(days=2)),
         {"pref", "acme", "acme/web", "about", "late", "plain"}),
    ],
)  # fmt: skip
def test_a_question_is_narrowed(shared: Database, narrowed: Narrowing, wanted: set[str]) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        rows.insert_memory(conn, org, "sextant plain")
        rows.insert_memory(conn, org, "sextant pref", kind="preference", scope=Scope(ScopeKind.USER, "u-1"))
        rows.insert_memory(conn, org, "sextant acme", scope=Scope(ScopeKind.PROJECT, "acme"))
        rows.insert_memory(conn, org, "sextant acme-corp", scope=Scope(ScopeKind.PROJECT, "acme-corp"))
        rows.insert_memory(conn, org, "sextant about", subject=Subject("user", "u-1"))
        rows.insert_memory(conn, org, "sextant late", observed_at=rows.OBSERVED + timedelta(days=1))
    found = {text.removeprefix("sextant ") for text in contents(ask(shared, org, "sextant", narrowed=narrowed))}
    assert found == wanted - {"acme/web"}, "a project's path is the grant's own here, so acme/web is nobody's"


@pytest.mark.parametrize(
    ("narrowed", "why"),
    [
        (Narrowing(kinds=("rumour",)), "a fact, preference, rule or turn"),
        (Narrowing(scope_path="acme"), "name it too"),
        (Narrowing(since=rows.OBSERVED, until=rows.OBSERVED), "begins before it ends"),
    ],
)
def test_what_narrows_to_nothing_there_is_is_refused(shared: Database, narrowed: Narrowing, why: str) -> None:
    with pytest.raises(QuestionRefused, match=why):
        ask(shared, rows.fresh_org(shared), "sextant", narrowed=narrowed)
    with pytest.raises(QuestionRefused, match="weighted and rrf"):
        ask(shared, rows.fresh_org(shared), "sextant", fusion="both")


def fill(conn: Connection, org: Org, run: UUID, openings: list[str], count: int) -> None:
    """So many memories at once, that begin by turns like this."""
    conn.execute("""
        INSERT INTO memories (id, org_id, run_id, tier, kind, status, scope_kind, content, content_hash, rationale,
          evidence, author_kind, author, provenance, high_stakes, importance, observed_at, valid_from, expires_at)
        SELECT uuidv7(), %(org)s, %(run)s, 'semantic', 'fact', 'active', 'org',
          (%(openings)s::text[])[1 + n %% cardinality(%(openings)s)] || ' number ' || n, sha256(n::text::bytea), 'r',
          '[]', 'agent', 'a', '{}', false, 1, now(), now(), now() + interval '9 days'
        FROM generate_series(1, %(count)s) n""",
        {"org": org.id, "run": run, "openings": openings, "count": count})  # fmt: skip


def test_of_words_in_too_many_memories_the_two_rarest_find_what_has_both(database: Database) -> None:
    """Though it was written last, and each word by itself is looked at only so far."""
    org = database.org("acme")
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        fill(conn, org, run, ["sextant thing", "compass thing", "thing"], 3_600)
        conn.execute("INSERT INTO org_search (org_id, stamp, missing) VALUES (%s, 1, 3600)", (org.id,))
        both = rows.insert_memory(conn, org, "a compass beside a sextant")
    for question in ("sextant compass", "thing sextant compass", "compass of a sextant, a rarity"):
        assert ask(database, org, question).hits[0].memory_id == both, question
    assert all("sextant" in text for text in contents(ask(database, org, "sextant thing")))
    assert len(ask(database, org, "thing").hits) == 5


def test_a_word_in_most_memories_finds_nothing_by_itself_but_scores_what_others_find(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        fill(conn, org, run, ["common thing", "other thing", "other thing"], 4_500)
        conn.execute("INSERT INTO org_search (org_id, stamp, missing) VALUES (%s, 1, 4500)", (org.id,))
        rare = rows.insert_memory(conn, org, "a rare thing")
        both = rows.insert_memory(conn, org, "a rare and common thing")
    found = ask(database, org, "rare common", max_hits=5)
    assert [hit.memory_id for hit in found.hits] == [both, rare]
    assert len(ask(database, org, "common thing", max_hits=5).hits) == 5
    assert STAMP.dimension == 8
