"""Every real session log ends consolidated or skipped for a reason; none dies, nothing is logged as an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.acceptance.stack import running

SESSIONS = Path(os.environ.get("MEASURING_DATA", Path(__file__).parents[3] / "shared" / "data")) / "sessions"


@pytest.mark.timeout(300)
@pytest.mark.skipif(not SESSIONS.is_dir(), reason=f"no session logs in {SESSIONS}; set MEASURING_DATA")
def test_every_session_log_ends(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = [path for path in SESSIONS.rglob("*") if path.is_file()]
    with running(tmp_path_factory.mktemp("home")) as stack:
        stack.org("acme")
        sent = stack.json("emit", str(SESSIONS), "--org", "acme")
        assert sent["failed"] == {}
        assert len(sent["sent"]) == len(files)
        distinct = len({event["sha256"] for event in sent["sent"]})
        states = stack.await_idle("acme", distinct)
        assert set(states) <= {"consolidated", "skipped"}, states
        assert stack.json("rejected", "list") == []
        assert stack.json("ledger", "verify")["entries"] > 0
        assert stack.logged("error") == []
        stack.json("emit", str(SESSIONS), "--org", "acme")
        assert stack.states("acme") == states, "the same sessions again are the same runs"
