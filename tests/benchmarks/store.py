"""What stands in the database before the clock starts: memories of other orgs, with vectors, so that indexes have size.

An HNSW index takes longer to insert into as it grows; an empty one would flatter every side alike, and hide from the
ratios what a store in use costs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from db import embedding
from db.connect import Connection, connect
from tests.benchmarks.recording import FACTS, fact, owners, vectors
from tests.services import Database

PREFIX = "stored-"
ROWS_AT_ONCE = 1_000
_STATES = ("received", "extracted", "redacted", "embedded", "consolidated")
_ORGS = "INSERT INTO orgs (name) SELECT DISTINCT x FROM unnest(%(owners)s::text[]) x"
_NAMESPACES = "INSERT INTO namespaces SELECT id, 'default' FROM orgs ON CONFLICT DO NOTHING"
_RUNS = """INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, event, ended_at, actor)
  SELECT uuidv7(), o.id, 'session', 'received', 'stored-' || x.n, sha256(x.n::text::bytea), 's-' || x.n, 'coder',
    '{}', now(), 'ingest'
  FROM unnest(%(owners)s::text[]) WITH ORDINALITY x(org, n) JOIN orgs o ON o.name = x.org"""
_MOVE = """UPDATE runs SET state = %(to)s, due_at = CASE WHEN %(to)s <> 'consolidated' THEN now() END,
  state_at = now() WHERE state = %(from)s"""
_MEMORIES = """INSERT INTO memories (id, org_id, run_id, tier, kind, status, scope_kind, content, content_hash,
    rationale, evidence, author_kind, author, provenance, high_stakes, importance, observed_at, valid_from, expires_at)
  SELECT uuidv7(), r.org_id, r.id, 'semantic', 'fact', 'active', 'org', t.content, sha256(t.content::bytea),
    'It was said.', '[]', 'agent', 'coder', '{}', false, 3, now(), now(), now() + interval '90 days'
  FROM unnest(%(texts)s::text[]) WITH ORDINALITY t(content, n)
  JOIN runs r ON r.event_key = 'stored-' || ((t.n - 1) / %(facts)s + 1)"""
_INDEX = "SELECT indexdef FROM pg_indexes WHERE tablename = 'embeddings_1' AND indexname = 'embeddings_1_vector_idx'"


def fill(database: Database, memories: int, *, orgs: int, org_runs_max: int, seed: int = 11) -> None:
    """About `memories` active memories of `orgs` orgs skewed like the recording's, none of them in the HNSW index."""
    rng = random.Random(seed)
    runs = memories // FACTS
    names = [f"{PREFIX}{number:03d}" for number in range(orgs)]
    texts = [fact(rng, 1_000_000 + number) for number in range(runs * FACTS)]
    params = {"owners": owners(rng, names, runs, org_runs_max), "texts": texts, "facts": FACTS}
    with connect(database.admin) as conn, conn.transaction():
        for statement in (_ORGS, _NAMESPACES, _RUNS, _MEMORIES):
            conn.execute(statement, params)  # type: ignore[call-overload]
        for before, after in pairwise(_STATES):
            conn.execute(_MOVE, {"from": before, "to": after})
    with database.as_role("worker") as conn:
        _embed(conn, [row["id"] for row in conn.execute("SELECT id FROM memories ORDER BY id")], seed)
    with connect(database.admin) as conn:
        conn.execute("ANALYZE")


def _embed(conn: Connection, ids: Sequence[object], seed: int) -> None:
    made = vectors(len(ids), seed)
    for at in range(0, len(ids), ROWS_AT_ONCE):
        part = slice(at, at + ROWS_AT_ONCE)
        embedding.insert(conn, 1, ids[part], made[part])  # type: ignore[arg-type]


def index_all(database: Database) -> None:
    """Every vector into the HNSW index, built at once, and every org searched and written by it."""
    with connect(database.admin) as conn:
        definition = conn.execute(_INDEX).fetchall()[0]["indexdef"]
        conn.execute("DROP INDEX embeddings_1_vector_idx")
        conn.execute("UPDATE embeddings_1 SET ann = true")
        conn.execute(definition)
        conn.execute("INSERT INTO org_search (org_id, stamp, ann) SELECT o.id, s.id, true FROM orgs o, stamps s")
        conn.execute("VACUUM ANALYZE")
