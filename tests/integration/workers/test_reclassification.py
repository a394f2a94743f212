"""What older detectors let through is found by today's: taken back, masked, erased or released, each once, on record,
whatever happens meanwhile.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from db import ledger, orgs, reclassify
from pipeline import intake
from pipeline.candidate import Kind
from pipeline.extraction import staging
from pipeline.redaction.canary import Canary
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Detector, Span
from tests.fleet import Fleet, event
from tests.integration.db import rows
from tests.integration.workers.running import running
from tests.integration.workers.scripted import Echo
from tests.scanning import find, in_postgres
from tests.waiting import wait_for
from workers import reclassification
from workers.context import Resources

PLAIN = "The search service stores its documents in Postgres."
BADGE = "The badge of the night watch is QX-4711 since May."
ROOM = "The night watch sits in room 4711 since May."
RULE = "Always run the integration tests before a release."


class Finds:
    """A newer detector: finds one word, of one class."""

    def __init__(self, word: str, cls: str) -> None:
        self._word, self._cls = word, cls
        self.name, self.classes = f"finds_{cls}", frozenset({cls})

    def detect(self, text: str) -> Sequence[Span]:
        at = text.find(self._word)
        return [Span(at, at + len(self._word), self._cls, 1.0, self.name)] if at >= 0 else []


CANARY = Canary("address", ROOM, "room 4711")
HIGH, LOW = Finds("QX-4711", "badge"), Finds("room 4711", "address")


def kept(fleet: Fleet, said: str, kind: Kind = Kind.FACT, session: str = "s1", detectors: Any = ALL) -> UUID:
    """A memory as detectors of then let it through."""
    fleet.install(extractor=Echo(kind), detectors=detectors)
    fleet.ingest(event(said, session=session))
    fleet.run()
    (row,) = fleet.rows("SELECT m.id FROM memories m JOIN runs r ON r.id = m.run_id WHERE r.session = %s", session)
    return UUID(str(row["id"]))


def today(fleet: Fleet, *newer: Detector) -> None:
    fleet.install(extractor=Echo(), detectors=(*ALL, *newer))


def ask(fleet: Fleet, kind: str = "rescan", **more: Any) -> UUID:
    with fleet.database.as_role("operator") as conn:
        return reclassify.ask(conn, kind, **{"actor": "olga", "reason": "better detectors", "rate": 1e4} | more)


def carry_out(fleet: Fleet, request: UUID) -> dict[str, int]:
    """The request, to its end; its counts."""
    while reclassification.step(fleet.using) is not None:
        pass
    (row,) = fleet.rows("SELECT status, counts FROM reclassifications WHERE id = %s", request)
    assert row["status"] == "finished"
    return {name: number for name, number in row["counts"].items() if number}


def rescanned(fleet: Fleet, **more: Any) -> dict[str, int]:
    return carry_out(fleet, ask(fleet, **more))


def memory(fleet: Fleet, id: UUID) -> dict[str, Any]:
    return fleet.rows("SELECT * FROM memories WHERE id = %s", id)[0]


def successor(fleet: Fleet, id: UUID) -> dict[str, Any]:
    return memory(fleet, memory(fleet, id)["superseded_by"])


def actions(fleet: Fleet, id: UUID) -> list[str]:
    return [r["action"] for r in fleet.rows("SELECT action FROM ledger WHERE subject_id = %s ORDER BY id", str(id))]


def vectors(fleet: Fleet) -> set[UUID]:
    return {row["memory_id"] for row in fleet.rows("SELECT memory_id FROM embeddings_1")}


@pytest.fixture
def acme(fleet: Fleet) -> Fleet:
    fleet.database.org("acme")
    return fleet


# --- What becomes of a memory.


@pytest.mark.parametrize(
    ("said", "finds", "content", "cls"),
    [(BADGE, HIGH, BADGE.replace("QX-4711", "[REDACTED:badge]"), "badge"), (ROOM, LOW, ROOM, "address")],
)
def test_an_active_memory_gives_way_to_one_that_waits(
    acme: Fleet, said: str, finds: Finds, content: str, cls: str
) -> None:
    old = kept(acme, said)
    assert vectors(acme) == {old}
    today(acme, finds)
    assert rescanned(acme)["hold"] == 1
    gone, new = memory(acme, old), successor(acme, old)
    assert (gone["status"], gone["content"], gone["rationale"], gone["evidence"]) == ("superseded", "", "", [])
    assert gone["erased_at"]
    assert gone["valid_to"] == gone["valid_from"]  # no recall of the past hands it out
    assert gone["lexemes"] == ""
    assert (new["status"], new["content"], new["classes"], new["hold_reasons"]) == (
        "pending", content, [cls], ["class_found"],
    )  # fmt: skip
    assert (new["subject_id"], new["author"], new["expires_at"]) == ("u1", gone["author"], gone["expires_at"])
    assert vectors(acme) == set()
    assert acme.rows("SELECT kind, reasons FROM reviews WHERE memory_id = %s AND is_open", new["id"]) == [
        {"kind": "hold", "reasons": ["class_found"]}
    ]
    assert actions(acme, old)[-3:] == ["memory_superseded", "memory_erased", "memory_reclassified"]
    (entry,) = acme.rows("SELECT actor, detail FROM ledger WHERE action = 'memory_reclassified'")
    assert (entry["actor"], entry["detail"]["move"], entry["detail"]["classes"]) == ("olga", "hold", [cls])


def test_nothing_high_stays_at_rest(acme: Fleet) -> None:
    """In every status, in evidence and search index, and in no hash of it."""
    old, rejected = kept(acme, BADGE), kept(acme, BADGE.replace("night", "day"), Kind.RULE, "s2")
    pending = kept(acme, BADGE.replace("night", "late"), Kind.RULE, "s3")
    with rows.door(acme.database, rows.token(acme.database, _org(acme))) as conn:
        conn.execute("SELECT reject(%s, 'no')", (rejected,))
    assert places(acme, "QX-4711") >= {"memories.content", "memories.evidence"}
    today(acme, HIGH)
    counts = rescanned(acme)
    assert (counts["hold"], counts["revise"], counts["erase"]) == (1, 1, 1)
    assert memory(acme, pending)["content"] == BADGE.replace("night", "late").replace("QX-4711", "[REDACTED:badge]")
    assert (memory(acme, rejected)["status"], memory(acme, rejected)["content"]) == ("rejected", "")
    assert memory(acme, old)["content_hash"] == bytes(32)
    assert places(acme, "QX-4711") == {"transcripts.body"}, "kept for its days: only what is proven is masked there"


def places(fleet: Fleet, value: str) -> set[str]:
    """Where a value stands, whatever it is packed in."""
    return set(find([value], in_postgres(fleet.database)))


def _org(fleet: Fleet) -> Any:
    with fleet.database.as_role("operator") as conn:
        return orgs.get(conn, "acme")


@pytest.mark.parametrize("proven", ["AKIAQ3EGRT7VNO5K2JXW"])
def test_what_the_scrub_proves_today_leaves_transcripts_and_envelopes(
    acme: Fleet, monkeypatch: pytest.MonkeyPatch, proven: str
) -> None:
    """As if it had not been known then: the scrub is switched off on the way in."""
    with monkeypatch.context() as then:
        then.setattr(intake, "scrub_transcript", lambda transcript: (transcript, ()))
        then.setattr(staging, "without_high", lambda text: text)
        acme.install(extractor=Echo())
        acme.ingest(event(f"The key of the staging bucket is {proven} since May."))
        acme.run("extraction")
    assert places(acme, proven) >= {"transcripts.body", "envelopes.body"}
    today(acme)
    counts = rescanned(acme)
    assert (counts["transcripts"], counts["envelopes"]) == (1, 1)
    assert places(acme, proven) == set()
    assert {"transcript_reclassified", "envelope_reclassified"} <= {
        row["action"] for row in acme.rows("SELECT action FROM ledger")
    }
    acme.run()
    assert acme.rows("SELECT status, classes FROM memories") == [{"status": "pending", "classes": ["secret"]}]


def test_a_class_the_org_lets_in_is_only_noted(fleet: Fleet) -> None:
    fleet.database.org("acme", activatable_classes=["address"])
    old = kept(fleet, ROOM)
    today(fleet, LOW)
    assert rescanned(fleet)["note"] == 1
    assert (memory(fleet, old)["status"], memory(fleet, old)["classes"]) == ("active", ["address"])
    assert actions(fleet, old)[-1] == "memory_reclassified"


def test_what_a_person_let_in_with_its_class_stays(acme: Fleet) -> None:
    old = kept(acme, ROOM, detectors=(*ALL, LOW))
    with rows.door(acme.database, rows.token(acme.database, _org(acme))) as conn:
        conn.execute("SELECT approve(%s)", (old,))
    today(acme, LOW, Finds("never said", "badge"))
    rescanned(acme)
    assert memory(acme, old)["status"] == "active"


# --- The backlog of an outage.


@pytest.fixture
def strict(fleet: Fleet) -> Fleet:
    fleet.database.org("acme", required_classes=["address"])
    return fleet


def test_what_waited_for_a_detector_alone_is_released_when_it_is_back(strict: Fleet) -> None:
    clean, dirty = kept(strict, PLAIN), kept(strict, ROOM, session="s2")
    rule = kept(strict, RULE, Kind.RULE, "s3")
    assert {memory(strict, id)["status"] for id in (clean, dirty, rule)} == {"pending"}
    healthy(strict)
    counts = rescanned(strict)
    assert (counts["release"], counts["revise"]) == (1, 2)
    now = memory(strict, clean)
    assert (now["status"], now["classes"], now["hold_reasons"]) == ("active", [], [])
    assert strict.rows("SELECT decision, decided_by FROM reviews WHERE memory_id = %s", clean) == [
        {"decision": "voided", "decided_by": "olga"}
    ]
    assert actions(strict, clean)[-2:] == ["review_closed", "memory_reclassified"]
    assert memory(strict, dirty)["hold_reasons"] == ["class_found"]
    assert memory(strict, rule)["hold_reasons"] == ["rule"]
    strict.run()
    assert vectors(strict) == {clean}


def healthy(fleet: Fleet) -> None:
    """The class that was uncovered has a detector that sings: ROOM's is asked for by a canary of its own."""
    fleet.install(extractor=Echo(), detectors=(*ALL, LOW))
    fleet.using.watch._canaries = (*fleet.using.watch._canaries, CANARY)


def test_while_the_detector_is_down_nothing_is_released(strict: Fleet) -> None:
    clean = kept(strict, PLAIN)
    today(strict)
    assert "release" not in rescanned(strict)
    assert memory(strict, clean)["hold_reasons"] == ["detector_unavailable"]


def test_a_text_being_checked_is_not_released_under_the_person(strict: Fleet) -> None:
    clean = kept(strict, PLAIN)
    with rows.door(strict.database, rows.token(strict.database, _org(strict))) as conn:
        conn.execute("SELECT retype(%s, 'edit', 'The search service stores its documents on paper.')", (clean,))
    healthy(strict)
    counts = rescanned(strict)
    assert (counts.get("release"), counts["missed"]) == (None, 1)
    strict.run()
    rescanned(strict)
    assert memory(strict, clean)["status"] == "pending"
    assert memory(strict, clean)["content"].endswith("on paper.")


# --- Once each, whatever happens meanwhile.


def test_a_dry_run_changes_nothing_and_says_the_same(acme: Fleet) -> None:
    old = kept(acme, BADGE)
    today(acme, HIGH)
    before = acme.rows("SELECT * FROM memories")
    request = ask(acme, dry_run=True)
    assert carry_out(acme, request)["hold"] == 1
    assert acme.rows("SELECT * FROM memories") == before
    told = acme.rows("SELECT memory_id, move, classes FROM reclassified WHERE reclassification_id = %s", request)
    assert told == [{"memory_id": old, "move": "hold", "classes": ["badge"]}]
    assert rescanned(acme)["hold"] == 1


def test_a_second_rescan_with_the_same_detectors_looks_at_nothing(acme: Fleet) -> None:
    for number in range(5):
        kept(acme, f"{PLAIN} ({number})", session=f"s{number}")
    assert rescanned(acme) == {"looked": 5}, "memories say who looked as they were written; transcripts do not"
    today(acme, HIGH)
    assert rescanned(acme) == {"of": 5, "looked": 10}
    assert rescanned(acme) == {}


def test_only_what_is_asked_for_is_looked_at(acme: Fleet) -> None:
    acme.database.org("other")
    mine = kept(acme, BADGE)
    acme.rows("UPDATE memories SET created_at = now() - interval '3 days' RETURNING id")
    today(acme, HIGH)
    with acme.database.as_role("operator") as conn:
        other = conn.execute("SELECT id FROM orgs WHERE name = 'other'").fetchone()
    assert other is not None
    assert rescanned(acme, org_id=other["id"]) == {}
    assert "hold" not in rescanned(acme, since=rows.datetime.now(rows.UTC) - rows.timedelta(days=1))
    assert memory(acme, mine)["status"] == "active"
    assert rescanned(acme)["hold"] == 1


def filled(fleet: Fleet, number: int = 30) -> None:
    fleet.install(extractor=Echo())
    fleet.ingest(*(event(f"{BADGE} Post {n}.", session=f"s{n}") for n in range(number)))
    fleet.run()


def test_two_rescans_at_once_do_each_memory_once(acme: Fleet) -> None:
    filled(acme)
    today(acme, HIGH)
    requests = [ask(acme, rate=200), ask(acme, rate=200)]
    others = [Resources(acme.using.context, n) for n in range(2)]

    def work(using: Resources) -> None:
        while (rest := reclassification.step(using)) is not None or _open(acme):
            threading.Event().wait(min(rest or 0.0, 0.01))

    threads = [threading.Thread(target=work, args=(using,)) for using in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for using in others:
        using.pool.close()
        using.redis.close()
    done = acme.rows(
        "SELECT status, (counts ->> 'hold')::int AS held FROM reclassifications WHERE id = ANY (%s)", requests
    )
    assert {row["status"] for row in done} == {"finished"}
    assert sum(row["held"] or 0 for row in done) == 30
    assert acme.rows("SELECT status, count(*)::int AS n FROM memories GROUP BY 1 ORDER BY 1") == [
        {"status": "pending", "n": 30}, {"status": "superseded", "n": 30},
    ]  # fmt: skip


def _open(fleet: Fleet) -> bool:
    with fleet.database.as_role("worker") as conn:
        return reclassify.any_open(conn)


def test_a_worker_killed_in_the_middle_is_taken_over_where_it_was(acme: Fleet, tmp_path: Path) -> None:
    """The process is killed again and again; what it had committed is done, and nothing is done twice."""
    filled(acme, 40)
    (tmp_path / "knows").write_text("QX-4711")
    request = ask(acme, rate=20)
    kills = 0
    with running(acme, "redaction", tmp_path) as worker, running(acme, "housekeeping", tmp_path / "housekeeping"):

        def held() -> int:
            return int(acme.rows("SELECT count(*) AS n FROM memories WHERE status = 'superseded'")[0]["n"])

        while kills < 3:
            before = held()
            wait_for(lambda before=before: held() > before or not _open(acme), 60)  # type: ignore[misc]
            for child in worker.children():
                os.kill(child, signal.SIGKILL)
            kills += 1
        wait_for(lambda: not _open(acme), 120)
    (row,) = acme.rows("SELECT status, counts FROM reclassifications WHERE id = %s", request)
    assert (row["status"], row["counts"]["hold"]) == ("finished", 40)
    assert acme.rows("SELECT status, count(*)::int AS n FROM memories GROUP BY 1 ORDER BY 1") == [
        {"status": "pending", "n": 40}, {"status": "superseded", "n": 40},
    ]  # fmt: skip


@pytest.mark.parametrize("verdict", ["approve(%s)", "reject(%s, 'no')", "forget(%s)"])
def test_a_verdict_that_is_being_given_stands(acme: Fleet, verdict: str) -> None:
    """A reviewer's transaction is open while the batch is written: the batch leaves the memory and comes again."""
    rule = kept(acme, RULE, Kind.RULE)
    today(acme, Finds("integration", "address"))
    request = ask(acme)
    with acme.database.as_role("reviewer") as conn:
        conn.execute("SELECT set_config('afterword.token', %s, false)", (rows.token(acme.database, _org(acme)),))
        with conn.transaction():
            conn.execute(f"SELECT {verdict}", (rule,))  # type: ignore[arg-type]
            assert reclassification.step(acme.using) == reclassification.REST_SECONDS
    carry_out(acme, request)
    now = memory(acme, rule)
    if "approve" in verdict:
        assert (now["status"], successor(acme, rule)["status"]) == ("superseded", "pending")
    else:
        assert (now["status"], now["content"]) == ({"r": "rejected", "f": "tombstoned"}[verdict[0]], RULE)


def test_a_text_a_detector_cannot_read_fails_alone(acme: Fleet) -> None:
    class Chokes(Finds):
        def detect(self, text: str) -> Sequence[Span]:
            if "choke" in text:
                raise RuntimeError
            return super().detect(text)

    kept(acme, "The team of the night watch may choke on it."), kept(acme, BADGE, session="s2")
    today(acme, Chokes("QX-4711", "badge"))
    counts = rescanned(acme)
    assert (counts["hold"], counts["failed"]) == (1, 1)


# --- By whom.

WRITES = [
    "UPDATE memories SET status = 'active'", "UPDATE memories SET detectors = 'x'",
    "INSERT INTO reclassified SELECT id, id, 1, 1, 'active', 'hold', '{}', '{}', '{}', '{}' FROM reclassifications",
    "UPDATE reclassifications SET status = 'finished'", "UPDATE reclassifications SET actor = 'somebody else'",
    "DELETE FROM reclassifications", "DELETE FROM payloads", "UPDATE transcripts SET body = ''",
    "INSERT INTO reclassifications (id, kind, actor, reason, rate_per_second, status, plan_digest, finished_at)"
    " VALUES (uuidv7(), 'reevaluate', 'a', 'b', 1, 'finished', '\\x00', now())",
]  # fmt: skip


@pytest.mark.parametrize("role", ["operator", "reviewer", "agent"])
@pytest.mark.parametrize("write", WRITES)
def test_who_asks_writes_nothing_of_what_is_asked_about(acme: Fleet, role: str, write: str) -> None:
    ask(acme)
    assert "permission denied" in rows.psql(acme.database, role, write).stderr


def test_not_even_a_worker_changes_a_request_or_what_it_found(acme: Fleet) -> None:
    kept(acme, BADGE)
    today(acme, HIGH)
    rescanned(acme)
    for write, refusal in (
        ("UPDATE reclassifications SET actor = 'x'", "permission denied"),
        ("UPDATE reclassifications SET counts = '{}'", "reclassification_stands|stands as it was made"),
        ("UPDATE reclassified SET move = 'note'", "permission denied"),
        ("DELETE FROM reclassified", "permission denied"),
    ):
        said = rows.psql(acme.database, "worker", write).stderr
        assert any(words in said for words in refusal.split("|")), (write, said)


# --- Beside memories.


def test_payloads_and_drops_that_hide_something_go(acme: Fleet) -> None:
    rule = kept(acme, RULE, Kind.RULE)
    with rows.door(acme.database, rows.token(acme.database, _org(acme))) as conn:
        conn.execute("SELECT retype(%s, 'edit', %s)", (rule, BADGE))
    acme.run()
    assert "payloads.content" in places(acme, "QX-4711")
    dropped = acme.rows(
        "INSERT INTO drops (id, org_id, run_id, rule, confidence, threshold, kind, content, rationale, evidence,"
        " scope_kind, author_kind, author, importance, observed_at, lifetime_days, review_share, expires_at,"
        " provenance)"
        " SELECT uuidv7(), org_id, run_id, 'confidence_below', 0.1, 0.5, 'fact', %s, 'r', '[]', 'org', 'agent', 'a', 2,"
        " now(), 90, 10000, now() + interval '90 days',"
        " '{\"provider\": \"p\", \"model\": \"m\", \"prompt_revision\": \"1\", \"rules_revision\": \"1\"}'"
        " FROM memories LIMIT 1 RETURNING id", BADGE,
    )[0]["id"]  # fmt: skip
    today(acme, HIGH)
    counts = rescanned(acme)
    assert (counts["payloads"], counts["drops"]) == (1, 1)
    assert places(acme, "QX-4711") == set()
    assert actions(acme, dropped)[-3:] == ["drop_erased", "review_closed", "drop_reclassified"]
    with acme.database.as_role("operator") as conn:
        assert ledger.verify(conn).entries


def test_what_is_under_a_legal_hold_keeps_its_text_and_is_found_once_it_is_released(acme: Fleet) -> None:
    rejected = kept(acme, BADGE, Kind.RULE)
    with rows.door(acme.database, rows.token(acme.database, _org(acme))) as conn:
        conn.execute("SELECT reject(%s, 'no')", (rejected,))
    with rows.as_admin(acme.database) as admin:
        admin.execute(
            "INSERT INTO afterword.legal_holds (id, org_id, hash, needles, actor, reason)"
            " SELECT uuidv7(), id, decode(repeat('00', 16), 'hex'), '[]', 'judge', 'case 7' FROM afterword.orgs"
        )
        admin.execute(
            "INSERT INTO afterword.held_rows (hold_id, org_id, store, row_id)"
            " SELECT l.id, l.org_id, 'runs', r.id FROM afterword.legal_holds l, afterword.runs r"
        )
    today(acme, HIGH)
    assert rescanned(acme)["on_hold"] == 2
    assert memory(acme, rejected)["content"] == BADGE
    with rows.as_admin(acme.database) as admin:
        admin.execute(
            "UPDATE afterword.legal_holds SET released_at = now(), released_by = 'j', release_reason = 'over'"
        )
    assert rescanned(acme)["erase"] == 1
    assert memory(acme, rejected)["content"] == ""


def test_what_a_person_kept_out_before_is_not_released(strict: Fleet) -> None:
    first = kept(strict, PLAIN)
    with rows.door(strict.database, rows.token(strict.database, _org(strict))) as conn:
        conn.execute("SELECT reject(%s, 'wrong')", (first,))
    strict.rows("UPDATE memories SET detectors = detectors RETURNING id")
    again = kept(strict, PLAIN, session="s2")
    strict.rows("UPDATE memories SET hold_reasons = '{detector_unavailable}' WHERE id = %s RETURNING id", again)
    healthy(strict)
    rescanned(strict)
    assert memory(strict, again)["hold_reasons"] == ["rejected_before"]
    assert memory(strict, again)["status"] == "pending"
