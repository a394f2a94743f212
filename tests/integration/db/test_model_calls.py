"""Budgets hold whoever reserves and however many at once; a call is settled once; nobody takes one away."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from db import model_calls, orgs
from db.connect import Connection
from db.events import Org
from db.model_calls import EndpointNotAllowed, NeverWithinBudget, OverBudget
from pipeline.extraction.metering import Asked, CallOutcome, Purpose, Settled, Tokens
from pipeline.provenance import EndpointClass, Provenance
from tests.integration.db import rows
from tests.services import Database

WHO = Provenance(provider="openai", model="m-1", endpoint_class=EndpointClass.CLOUD, prompt_revision="extraction@1")


def ask(conn: Connection, org: Org, tokens: int = 100, *, cost: str | None = None, run: UUID | None = None) -> UUID:
    asked = Asked(WHO, Tokens(tokens, 0), Decimal(cost) if cost else None)
    return model_calls.reserve(conn, asked, purpose=Purpose.EXTRACTION, run=run or rows.insert_run(conn, org))


def answered(tokens: int, cost: str | None = None) -> Settled:
    return Settled(CallOutcome.ANSWERED, "m-1-dated", Tokens(tokens, 0), Decimal(cost) if cost else None, 0.5)


def test_a_day_ends_where_its_tokens_are_used_up(shared: Database) -> None:
    org = rows.fresh_org(shared, budget_tokens_a_day=250)
    with shared.as_role("worker") as conn:
        first = ask(conn, org)
        ask(conn, org)
        with pytest.raises(OverBudget):
            ask(conn, org)
        assert model_calls.settle(conn, first, answered(10))
        ask(conn, org)
        with pytest.raises(OverBudget):
            ask(conn, org)
        with pytest.raises(NeverWithinBudget):
            ask(conn, org, 251)
    with rows.as_admin(shared) as admin:
        admin.execute("UPDATE model_calls SET reserved_at = reserved_at - interval '1 day' WHERE org_id = %s "
                      "AND outcome = 'reserved'", (org.id,))  # fmt: skip
    with shared.as_role("worker") as conn:
        ask(conn, org, 240)


def test_a_day_ends_where_its_money_is_spent_and_an_unknown_price_is_none(shared: Database) -> None:
    org = rows.fresh_org(shared, budget_usd_a_day=0.1)
    with shared.as_role("worker") as conn:
        ask(conn, org, cost="0.09")
        with pytest.raises(OverBudget):
            ask(conn, org, cost="0.02")
        ask(conn, org, 1_000_000)
        used = model_calls.of_day(conn, org.id)
    assert (used["tokens_today"], used["usd_today"]) == (1_000_100, Decimal("0.09"))


def test_two_workers_cannot_both_have_the_last_of_it(shared: Database) -> None:
    org = rows.fresh_org(shared, budget_tokens_a_day=100)
    said: list[str] = []

    def race(run: UUID) -> None:
        with shared.as_role("worker") as conn:
            try:
                ask(conn, org, run=run)
                said.append("had")
            except OverBudget:
                said.append("waits")

    with shared.as_role("worker") as conn:
        mine, theirs = rows.insert_run(conn, org), rows.insert_run(conn, org)
        with conn.transaction():
            ask(conn, org, run=mine)
            other = threading.Thread(target=race, args=(theirs,))
            other.start()
            rows.wait_until_blocked(shared)
        other.join()
    assert said == ["waits"]


def test_an_org_without_a_budget_waits_for_nobody(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as one, shared.as_role("worker") as two, one.transaction():
        ask(one, org)
        ask(two, org)


def test_a_call_is_settled_once_and_the_lost_may_come_back(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        call = ask(conn, org)
        with rows.as_admin(shared) as admin:
            admin.execute("UPDATE model_calls SET reserved_at = now() - interval '2 hours' WHERE id = %s", (call,))
        assert model_calls.give_up(conn) >= 1
        assert conn.execute("SELECT outcome FROM model_calls WHERE id = %s", (call,)).fetchone() == {"outcome": "lost"}
        assert model_calls.give_up(conn) == 0
        assert model_calls.settle(conn, call, answered(7, "0.5"))
        assert not model_calls.settle(conn, call, answered(9))
        row = conn.execute("SELECT outcome, tokens_counted, cost_counted, answered_by FROM model_calls WHERE id = %s",
                           (call,)).fetchone()  # fmt: skip
    assert row == {"outcome": "answered", "tokens_counted": 7, "cost_counted": Decimal("0.5"),
                   "answered_by": "m-1-dated"}  # fmt: skip


@pytest.mark.parametrize(
    ("role", "statement", "why"),
    [
        ("worker", "DELETE FROM model_calls", "permission denied"),
        ("worker", "UPDATE model_calls SET reserved_input = 0", "permission denied"),
        ("worker", "UPDATE model_calls SET input_tokens = 0, output_tokens = 0 WHERE id = '{settled}'", "settled once"),
        ("worker", "UPDATE model_calls SET outcome = 'answered' WHERE id = '{open}'", "settled_has_its_time"),
        ("operator", "DELETE FROM model_calls", "permission denied"),
        ("reviewer", "SELECT FROM model_calls", "permission denied"),
        ("agent", "SELECT FROM model_calls", "permission denied"),
        ("operator", "INSERT INTO model_calls (id, org_id, run_id, purpose, provider, model, endpoint_class, "
         "prompt_revision, reserved_input, reserved_output) VALUES (uuidv7(), {org}, '{run}', 'extraction', 'p', 'm', "
         "'cloud', 'r', 1, 1)", "row-level security"),
    ],
)  # fmt: skip
def test_nobody_makes_a_cost_go_away(shared: Database, role: str, statement: str, why: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        settled, still = ask(conn, org, run=run), ask(conn, org, run=run)
        model_calls.settle(conn, settled, answered(5))
    script = statement.format(settled=settled, open=still, org=org.id, run=run)
    assert why in rows.psql(shared, role, script).stderr


def test_an_operator_settles_nothing_of_an_extraction(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        ask(conn, org)
    script = "UPDATE model_calls SET outcome = 'lost', settled_at = now()"
    assert rows.psql(shared, "operator", script).stdout.strip() == "UPDATE 0"


@pytest.mark.parametrize("settings", ['{"budget_tokens_a_day": -1}', '{"budget_usd_a_day": "much"}'])
def test_a_budget_is_a_number(shared: Database, settings: str) -> None:
    org = rows.fresh_org(shared)
    said = rows.psql(shared, "operator", f"UPDATE orgs SET settings = settings || '{settings}' WHERE id = {org.id}")
    assert "a_budget_is_a_number" in said.stderr


def test_whoever_raises_a_budget_need_not_wait_for_tomorrow(shared: Database) -> None:
    org = rows.fresh_org(shared, budget_tokens_a_day=1)
    other = rows.fresh_org(shared, budget_tokens_a_day=1)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with shared.as_role("worker") as conn:
        waits, theirs = (rows.insert_run(conn, one) for one in (org, other))
        conn.execute("UPDATE runs SET due_at = %s, reason = 'over_budget' WHERE id = ANY (%s)",
                     (tomorrow, [waits, theirs]))  # fmt: skip
        assert model_calls.waiting(conn)["over_budget"] == 2
    with shared.as_role("operator") as conn:
        assert orgs.change(conn, org, org.settings.model_copy(update={"budget_tokens_a_day": None}), actor="ana",
                           reason="more")  # fmt: skip
    with shared.as_role("worker") as conn:
        found = conn.execute("SELECT id, due_at <= now() AS due FROM runs WHERE id = ANY (%s)", ([waits, theirs],))
        due = {row["id"]: row["due"] for row in found}
        assert model_calls.waiting(conn)["over_budget"] == 1
    assert due == {waits: True, theirs: False}


@pytest.mark.parametrize("purpose", Purpose)
def test_no_call_goes_where_the_org_does_not_let_it(shared: Database, purpose: Purpose) -> None:
    org = rows.fresh_org(shared, endpoint_classes=frozenset({EndpointClass.LOCAL, EndpointClass.PRIVATE}))
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        for endpoint in EndpointClass:
            asked = Asked(WHO.model_copy(update={"endpoint_class": endpoint}), Tokens(1, 1), None)
            if endpoint is EndpointClass.CLOUD:
                with pytest.raises(EndpointNotAllowed):
                    model_calls.reserve(conn, asked, purpose=purpose, run=run)
            else:
                model_calls.reserve(conn, asked, purpose=purpose, run=run)


def test_an_org_that_decided_nothing_sends_its_sessions_nowhere(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with rows.as_admin(shared) as admin:
        admin.execute("UPDATE orgs SET settings = settings - 'endpoint_classes' WHERE id = %s", (org.id,))
    for endpoint, refused in (("local", False), ("private", True), ("cloud", True)):
        said = rows.psql(
            shared, "worker",
            "INSERT INTO model_calls (id, org_id, purpose, provider, model, endpoint_class, prompt_revision,"
            " reserved_input, reserved_output)"
            f" VALUES (uuidv7(), {org.id}, 'trial', 'p', 'm', '{endpoint}', 'r', 1, 1)",
        )  # fmt: skip
        assert ("does not let its sessions go" in said.stderr) is refused


def test_whoever_admits_an_endpoint_need_not_wait_for_tomorrow(shared: Database) -> None:
    org = rows.fresh_org(shared, endpoint_classes=frozenset({EndpointClass.LOCAL}))
    with shared.as_role("worker") as conn:
        waits = rows.insert_run(conn, org)
        conn.execute("UPDATE runs SET due_at = now() + interval '1 day', reason = 'endpoint_not_allowed' WHERE id = %s",
                     (waits,))  # fmt: skip
        assert model_calls.waiting(conn)["endpoint_not_allowed"] == 1
    with shared.as_role("operator") as conn:
        wanted = org.settings.model_copy(update={"endpoint_classes": frozenset(EndpointClass)})
        assert orgs.change(conn, org, wanted, actor="ana", reason="contract of May")
    with shared.as_role("worker") as conn:
        assert model_calls.waiting(conn)["endpoint_not_allowed"] == 0
        [run] = conn.execute("SELECT due_at <= now() AS due FROM runs WHERE id = %s", (waits,))
        assert run["due"]


def test_a_report_counts_once_what_several_calls_made(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        rows.insert_memory(conn, org, "a", run=run)
        rows.pending(conn, org, "b", run=run)
        for cost in ("0.25", "0.50", None):
            model_calls.settle(conn, ask(conn, org, run=run), answered(100, cost))
        ask(conn, org, 40)
    now = datetime.now(UTC)
    with shared.as_role("operator") as conn:
        window = {"org": org.id, "since": now - timedelta(hours=1), "until": now + timedelta(hours=1)}
        by_org = model_calls.report(conn, by="org", **window)
        by_model = {row["label"]: row["calls"] for row in model_calls.report(conn, by="model", **window)}
        shares = model_calls.by_memory(conn, limit=10, **window)
    (row,) = by_org
    assert (row["label"], row["calls"], row["failed"], row["unpriced"]) == (org.name, 4, 1, 2)
    assert (row["input_tokens"], row["usd"], row["memories"], row["active"]) == (340, Decimal("0.75"), 2, 1)
    assert (row["seconds_p50"], row["runs"]) == (0.5, 2)
    assert by_model == {"openai/m-1": 1, "openai/m-1-dated": 3}
    assert [(each["tokens"], each["usd"], each["calls"], each["unpriced"]) for each in shares] == [
        (150.0, Decimal("0.375"), 3, 1)
    ] * 2
