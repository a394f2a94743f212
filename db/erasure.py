"""Finding and erasing somebody: every store is read as a worker reads it, and erased by the one role that may.

    find (worker) -> mark (operator, own commit) -> erase (operator, one transaction) -> vacuum -> finish

Nothing here prints or returns a text: what is found is named by store and id.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from db.connect import Connection
from db.sql import query
from pipeline.intake import MAX_KEPT_BYTES
from pipeline.subjects import USER, Name, Sought, event_names, texts_in, texts_in_json
from pipeline.transcripts import inflate

_TABLES = ("memories", "reviews", "runs", "transcripts", "envelopes", "drops", "payloads", "rejected_events", "tokens",
           "run_subjects", "outcomes")  # fmt: skip


@dataclass
class Found:
    """Where somebody stands, by store. `runs` are all whose transcript, envelope and event go, with their event keys;
    `renamed` those whose user, session, agent or project says the name; `users` their ids as users.
    """

    runs: dict[UUID, str] = field(default_factory=dict)
    renamed: set[UUID] = field(default_factory=set)
    memories: set[UUID] = field(default_factory=set)
    reviews: set[UUID] = field(default_factory=set)
    drops: set[UUID] = field(default_factory=set)
    outcomes: set[UUID] = field(default_factory=set)
    payloads: set[int] = field(default_factory=set)
    rejected_events: set[UUID] = field(default_factory=set)
    transcripts: set[UUID] = field(default_factory=set)
    envelopes: set[UUID] = field(default_factory=set)
    embeddings: int = 0
    tokens: int = 0
    users: set[str] = field(default_factory=set)

    def counts(self) -> dict[str, int]:
        """Rows by store; those with none are left out."""
        stores = ("memories", "embeddings", "reviews", "drops", "outcomes", "payloads", "transcripts", "envelopes",
                  "runs", "rejected_events", "tokens")  # fmt: skip
        sizes = {name: value if isinstance(value := getattr(self, name), int) else len(value) for name in stores}
        return {name: size for name, size in sizes.items() if size}

    def ids(self) -> dict[str, list[str]]:
        """For the register outside the database."""
        stores = ("runs", "memories", "reviews", "drops", "payloads", "rejected_events")
        return {name: sorted(map(str, getattr(self, name))) for name in stores if getattr(self, name)}


def find(conn: Connection, org_id: int, org: str, who: Sought, known: dict[str, Any] | None = None) -> Found:
    """Everything that names `who` in an org, as the worker's login. `known`: ids of an earlier time, as `Found.ids`."""
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return _Search(conn, org_id, org, who, known or {}).run()


class _Search:
    def __init__(self, conn: Connection, org_id: int, org: str, who: Sought, known: dict[str, Any]) -> None:
        self._conn, self._org_id, self._org, self._who, self._known = conn, org_id, org, who, known
        self._found = Found()
        self._named: set[UUID] = {UUID(id_) for id_ in known.get("runs", ())}

    def run(self) -> Found:
        found = self._found
        self._indexed()
        self._packed("envelopes")
        self._packed("transcripts")
        self._runs()
        self._memories()
        self._close()
        self._reviews()
        self._outcomes()
        self._payloads()
        found.rejected_events |= {row["id"] for row in self._rows("rejected_events") if self._rejected(row)}
        found.transcripts = self._present("transcripts")
        found.envelopes = self._present("envelopes")
        found.embeddings = _embeddings(self._conn, found.memories)
        return found

    def _rows(self, name: LiteralString) -> Iterator[dict[str, Any]]:
        with self._conn.cursor(name=f"find_{name}") as cursor:
            cursor.itersize = 500
            cursor.execute(query(f"subjects.{name}"), {"org": self._org_id})
            yield from cursor

    def _indexed(self) -> None:
        self._found.memories |= {UUID(id_) for id_ in self._known.get("memories", ())}
        params = {"org": self._org_id, "hash": self._who.hash}
        for row in self._conn.execute(query("subjects.indexed"), params):
            self._named.add(row["run_id"])
            if row["memory_id"]:
                self._found.memories.add(row["memory_id"])

    def _packed(self, store: LiteralString) -> None:
        if self._who.needles:
            for row in self._rows(store):
                body = row["body"]
                if self._says(inflate(body) if isinstance(body, bytes) else body):
                    self._named.add(row["run_id"])

    def _says(self, body: Any) -> bool:
        if isinstance(body, bytes):
            raw = body.decode("utf-8", "replace")
            return self._who.may_stand_in(raw) and self._who.stands_in(texts_in_json(body))
        return self._who.stands_in(texts_in(body))

    def _runs(self) -> None:
        """Runs by their event and their own columns; the verdicts about what was found follow in `_close`."""
        self._all_runs = {}
        for row in self._rows("runs"):
            self._all_runs[row["id"]] = (row["event_key"], row["kind"], row["memory_id"] or row["drop_id"])
            own = [row[name] for name in ("session", "agent", "project", "user_id", "event_key") if row[name]]
            named = event_names(row["event"] | ({"user": row["user_id"]} if row["user_id"] else {}))
            if row["user_id"] and self._who.is_named(Name(USER, row["user_id"])):
                self._found.users.add(row["user_id"])
            if self._who.stands_in(own):
                self._found.renamed.add(row["id"])
                self._named.add(row["id"])
            elif self._who.is_named(*named) or self._says([row["event"], row["error_detail"]]):
                self._named.add(row["id"])

    def _memories(self) -> None:
        runs_verdict = {run for run in self._named if self._all_runs.get(run, ("", "", None))[1] == "verdict"}
        self._of_run: dict[UUID, UUID] = {}
        for row in self._rows("memories"):
            if row["author"] == "erased" and not row["content"]:
                continue
            if row["id"] in self._found.memories or row["run_id"] in runs_verdict or self._is_about(row):
                self._found.memories.add(row["id"])
                self._of_run[row["id"]] = row["run_id"]

    def _is_about(self, row: dict[str, Any]) -> bool:
        named = [Name(row["subject_type"], row["subject_id"])] if row["subject_type"] else []
        if row["author_kind"] == "person":
            named.append(Name(USER, row["author"]))
        if row["scope_kind"] == "user":
            named.append(Name(USER, row["scope_value"]))
        columns = ("content", "rationale", "evidence", "subject_id", "scope_value", "author")
        return self._who.is_named(*named) or self._says([row[column] for column in columns])

    def _close(self) -> None:
        """A memory's own run named whom it names, as did every verdict about it; drops go by their text or run."""
        drops = [row for row in self._rows("drops") if row["run_id"] in self._named or self._is_about(row)]
        self._found.drops = {row["id"] for row in drops} | {UUID(id_) for id_ in self._known.get("drops", ())}
        self._named |= {row["run_id"] for row in drops} | set(self._of_run.values())
        about = self._found.memories | self._found.drops
        self._named |= {run for run, (_, _, decided) in self._all_runs.items() if decided in about}
        self._found.runs = {run: self._all_runs[run][0] for run in self._named if run in self._all_runs}

    def _reviews(self) -> None:
        for row in self._rows("reviews"):
            gone = row["memory_id"] in self._found.memories or row["drop_id"] in self._found.drops
            if gone or self._says([row["comment"]]):
                self._found.reviews.add(row["id"])

    def _outcomes(self) -> None:
        for row in self._rows("outcomes"):
            texts = [row[column] for column in ("comment", "eval_run", "agent", "workflow")]
            if row["memory_id"] in self._found.memories or self._says(texts):
                self._found.outcomes.add(row["id"])

    def _payloads(self) -> None:
        about = {str(id_) for id_ in (*self._found.memories, *self._found.runs, *self._found.drops)}
        for row in self._rows("payloads"):
            if row["subject_id"] in about or self._says(row["content"]):
                self._found.payloads.add(row["entry_id"])

    def _rejected(self, row: dict[str, Any]) -> bool:
        """Of this org, or of none there is: an event that names another org is that one's to erase."""
        if str(row["id"]) in self._known.get("rejected_events", ()):
            return True
        body = inflate(row["body"], MAX_KEPT_BYTES) if row["body"] else b""
        texts = list(texts_in_json(body))
        event = _event(body)
        org = event.get("org")
        if org != self._org and org in self._orgs():
            return False
        packed = [text for item in texts if item.startswith("KLUv/") for text in _unpacked(item)]
        return self._who.is_named(*event_names(event)) or self._who.stands_in([row["detail"], *texts, *packed])

    def _orgs(self) -> set[str]:
        return {row["name"] for row in self._conn.execute(query("subjects.org_names"))}

    def _present(self, store: str) -> set[UUID]:
        table = sql.Identifier(store)
        rows = self._conn.execute(
            sql.SQL("SELECT run_id FROM {} WHERE run_id = ANY (%s)").format(table), (list(self._found.runs),)
        )
        return {row["run_id"] for row in rows}


def _event(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _unpacked(text: str) -> Iterable[str]:
    """The texts of a transcript that an event carries packed."""
    try:
        return list(texts_in_json(inflate(base64.b64decode(text, validate=True))))
    except ValueError:
        return ()


def _embeddings(conn: Connection, memories: set[UUID]) -> int:
    count = 0
    for row in conn.execute("SELECT id FROM stamps").fetchall():
        table = sql.Identifier(f"embeddings_{row['id']}")
        statement = sql.SQL(query("subjects.count_embeddings")).format(table=table)
        counted = conn.execute(statement, {"memories": list(memories)}).fetchone()
        count += counted["n"] if counted else 0
    return count


def needles(who: Sought) -> list[dict[str, Any]]:
    return [item.as_json() for item in who.needles]


def mark(conn: Connection, who: Sought, reason: str, *, id: UUID | None = None, at: datetime | None = None) -> UUID:
    """Under an operator's grant. From its commit on, redaction lets nothing in that this erasure covers."""
    params = {"hash": who.hash, "needles": Jsonb(needles(who)), "reason": reason, "id": id, "at": at}
    row = conn.execute(query("subjects.mark"), params).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def erase(conn: Connection, erasure: UUID, found: Found, keys: dict[UUID, str]) -> dict[str, Any]:
    """Under an operator's grant: {erased: {store: rows}, kept: [{hold, why, by, since, runs, memories}]}.

    `keys`: what takes the place of each run's event key.
    """
    params = {
        "erasure": erasure, "runs": list(found.runs), "event_keys": [keys[run] for run in found.runs],
        "renamed": list(found.renamed), "memories": list(found.memories), "drops": list(found.drops),
        "entries": list(found.payloads), "reviews": list(found.reviews), "rejected": list(found.rejected_events),
        "users": sorted(found.users),
    }  # fmt: skip
    row = conn.execute(query("subjects.erase"), params).fetchone()
    assert row is not None
    receipt: dict[str, Any] = row["receipt"]
    besides = {"erasure": erasure, "outcomes": list(found.outcomes), "memories": list(found.memories)}
    if gone := conn.execute(query("subjects.erase_outcomes"), besides).fetchone():
        receipt["erased"]["outcomes"] = receipt["erased"].get("outcomes", 0) + gone["rows"]
    return receipt


def note(conn: Connection, erasure: UUID, besides: dict[str, int]) -> None:
    """What went outside the tables."""
    conn.execute(query("subjects.note"), {"erasure": erasure, "besides": Jsonb(besides)})


def finish(conn: Connection, erasure: UUID) -> int | None:
    """The number of the ledger's last entry about it; None when it was finished already."""
    row = conn.execute(query("subjects.finish"), {"erasure": erasure}).fetchone()
    return row["entry"] if row else None


def erasure(conn: Connection, id: UUID) -> dict[str, Any]:
    """One row of the register: hash, needles, when, counts so far."""
    row = conn.execute(query("subjects.erasure"), {"id": id}).fetchone()
    assert row is not None
    return row


def vacuum(conn: Connection, *, rewrite: bool = False) -> list[str]:
    """Make room of what is gone in every table that may have held it, and build the text index anew: a word's entry in
    it outlives the last text that had it. `rewrite`: write the tables anew, each locked meanwhile, since the free space
    of a page keeps its old bytes until it is used.
    """
    how = sql.SQL("FULL") if rewrite else sql.SQL("INDEX_CLEANUP ON, PROCESS_TOAST ON")
    stamps = [f"embeddings_{row['id']}" for row in conn.execute("SELECT id FROM stamps ORDER BY id").fetchall()]
    for table in (*_TABLES, *stamps):
        conn.execute(sql.SQL("VACUUM ({}) {}").format(how, sql.Identifier(table)))
    conn.execute("REINDEX INDEX CONCURRENTLY memories_search")
    return [*_TABLES, *stamps]


def place_hold(conn: Connection, who: Sought, reason: str, found: Found) -> UUID:
    params = {"hash": who.hash, "needles": Jsonb(needles(who)), "reason": reason, "runs": list(found.runs),
              "rejected": list(found.rejected_events)}  # fmt: skip
    row = conn.execute(query("subjects.place_hold"), params).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def release_hold(conn: Connection, who: Sought, reason: str) -> UUID | None:
    row = conn.execute(query("subjects.release_hold"), {"hash": who.hash, "reason": reason}).fetchone()
    return row["id"] if row else None


def holds_on(conn: Connection, org_id: int, who: Sought) -> list[dict[str, Any]]:
    """The open holds on exactly this subject."""
    return list(conn.execute(query("subjects.holds_on"), {"org": org_id, "hash": who.hash}))


def holds(conn: Connection) -> list[dict[str, Any]]:
    return list(conn.execute(query("subjects.holds")))


def held_among(conn: Connection, rows: Iterable[UUID]) -> set[UUID]:
    """Which of these runs and rejected events are under any open hold."""
    return {row["row_id"] for row in conn.execute(query("subjects.held_among"), {"rows": list(rows)})}


def add_tokens(conn: Connection, who: Sought, found: Found) -> None:
    """Under an operator's grant, who alone may see which users have tokens."""
    for row in conn.execute(query("subjects.token_users")):
        if who.is_named(Name(USER, row["user_id"])) or who.stands_in([row["user_id"]]):
            found.users.add(row["user_id"])
            found.tokens += row["tokens"]


def answered(conn: Connection, who: Sought, action: str, detail: dict[str, Any]) -> int:
    """The ledger's entry about an answer, written before it is given."""
    params = {"hash": who.hash, "action": action, "detail": Jsonb(detail)}
    row = conn.execute(query("subjects.answered"), params).fetchone()
    assert row is not None
    return int(row["entry"])
