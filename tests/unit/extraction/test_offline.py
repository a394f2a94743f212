"""The rules keep what people decide, limit, prefer and state, and leave questions, guesses, code and chatter alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extraction.adapters.offline import MAX_CANDIDATES_A_SESSION, PROVENANCE, OfflineExtractor, extract
from pipeline.extraction.evidence import check
from pipeline.extraction.port import ExtractionJob
from pipeline.formats import read
from pipeline.outcome import Done
from pipeline.session import Role, Transcript, Trust, Turn

RUN = UUID("6f0a3c52-1b7e-4f1e-9a51-0f4f4f1d2c11")
AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
TRUST = {Role.USER: Trust.USER, Role.ASSISTANT: Trust.AGENT}


def session(*turns: tuple[str, str]) -> Transcript:
    return Transcript(
        turns=tuple(
            Turn(role=Role(role), text=text, at=AT, trust=TRUST.get(Role(role), Trust.UNTRUSTED))
            for role, text in turns
        )
    )


def rules(*turns: tuple[str, str]) -> list[str]:
    return [item.rationale.split(":")[0].removeprefix("Rule ") for item in extract(session(*turns)).candidates]


@pytest.mark.parametrize(
    ("role", "text", "rule"),
    [
        ("user", "Always squash commits before you open a pull request.", "user-rule"),
        ("user", "From now on reply in Portuguese to this customer.", "user-rule"),
        ("user", "Use tabs in the makefiles, not spaces.", "user-rule"),
        ("user", "I prefer answers without bullet lists.", "user-preference"),
        ("user", "I can only take calls after four o'clock.", "user-preference"),
        ("user", "I can't eat anything with gluten.", "user-preference"),
        ("user", "I'd like to use my vouchers first, then the company card.", "user-preference"),
        ("user", "You should never push to the release branch yourself.", "user-rule"),
        ("user", "Send receipts to my work address for all future orders.", "user-rule"),
        ("user", "I always book the earliest train.", "user-preference"),
        ("user", "I prefer direct trains.", "user-preference"),
        ("user", "You can only reach me by email after five.", "user-preference"),
        ("user", "It must be possible to switch the reports off.", "user-constraint"),
        (
            "assistant",
            "The old parser was kept for the importer, since two plugins still call it.",
            "chosen-with-reason",
        ),
        ("user", "Please, stop adding comments that repeat the code.", "user-rule"),
        ("user", "Bitte immer erst die Tests laufen lassen.", "user-rule"),
        ("user", "Siempre responde en el idioma del cliente.", "user-rule"),
        ("user", "Ne jamais toucher aux fichiers générés.", "user-rule"),
        ("user", "Je préfère les réponses courtes et sans listes.", "user-preference"),
        ("user", "Prefiro respostas curtas e sem listas.", "user-preference"),
        ("user", "Wir haben uns für Postgres und gegen Kafka entschieden.", "user-decision"),
        ("user", "Unsere Datenbank läuft auf einem eigenen Server.", "user-organisation"),
        ("user", "Nuestro servidor de pruebas está en Madrid.", "user-organisation"),
        ("user", "Ich wohne seit zwei Jahren in Bremen.", "user-about-self"),
        ("user", "Moro em Lisboa e trabalho de casa.", "user-about-self"),
        ("user", "Exports dürfen niemals eine Adresse enthalten.", "user-constraint"),
        ("assistant", "Die Ursache war ein abgelaufenes Zertifikat im Proxy.", "solved-cause"),
        ("assistant", "**Root cause**: two workers renewed the same lease at once.", "solved-cause"),
        ("user", "Ich bevorzuge kurze Antworten ohne Listen.", "user-preference"),
        ("user", "We decided to keep the monorepo for another year.", "user-decision"),
        ("user", "OK, let's go with Postgres for the event log.", "user-decision"),
        ("user", "Hemos decidido mantener el monorepo este año.", "user-decision"),
        ("user", "Remember that the auditors come in May.", "user-told"),
        ("user", "The export must never contain a street address.", "user-constraint"),
        ("user", "Direct pushes to main are not allowed in any team.", "user-constraint"),
        ("user", "We deploy the billing service on Tuesdays only.", "user-organisation"),
        ("user", "Our staging cluster runs in eu-west-1.", "user-organisation"),
        ("user", "The archive bucket is owned by the data team.", "user-stated"),
        ("user", "I work at the harbour office in Bergen.", "user-about-self"),
        ("user", "I'm allergic to peanuts and sesame.", "user-about-self"),
        ("user", "We tried 200 in April and the importer ran out of memory.", "user-cause"),
        ("assistant", "The root cause was a stale lock left behind by the old scheduler.", "solved-cause"),
        ("assistant", "The upload failed because the token had expired at midnight.", "solved-cause"),
        ("assistant", "SQLite was rejected because two writers block each other.", "chosen-with-reason"),
        ("assistant", "The export only works with the legacy driver on Windows.", "learned-limit"),
    ],
)
def test_keeps(role: str, text: str, rule: str) -> None:
    assert rules((role, text)) == [rule]


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("user", "Should we decide to keep the monorepo for another year?"),
        ("user", "Do we deploy the billing service on Tuesdays only?"),
        ("user", "Maybe we decided to keep the monorepo for a year."),
        ("user", "If we decided to drop the monorepo, what would break."),
        ("user", "I think the export must never contain an address."),
        ("user", "It must never contain a street address."),
        ("user", "We decided to go with the second one."),
        ("user", "The second window is never closed."),
        ("user", "I don't like this approach, it has too many parts."),
        ("user", "I prefer the second approach you listed."),
        ("user", "I can only see three of the five items."),
        ("user", "Use the existing helper instead of writing a new one."),
        ("user", "We have to fix the export because the release is tomorrow."),
        ("user", "Don't push anything to the branch yet."),
        ("user", "I need to cancel because my mother is ill."),
        ("assistant", "The cancellation was rejected because the booking is older than a day."),
        ("assistant", "The card was not charged because the payment failed."),
        ("assistant", "The command failed because the path was wrong."),
        ("assistant", "Problem: missing colon at the end of line 4"),
        ("user", "Stop it, please, and start over from here."),
        ("user", "I am a customer of yours and need some help."),
        ("user", "I have a function that has a bug in `parse`."),
        ("user", "Never had that on any other machine before."),
        ("user", "Let's go with option 2 for the event log."),
        ("user", "> We decided to keep the monorepo for another year."),
        ("user", 'The form says "we decided to keep the monorepo" in bold.'),
        ("user", "```\nwe decided to keep the monorepo\n```"),
        ("user", "<command-output>We decided to keep the monorepo for a year.</command-output>"),
        ("user", "Never mind."),
        ("user", "Wow, teaching them tricks must be so much fun."),
        ("user", "Please fix the failing test and run the linter again."),
        ("user", "Thank you so much for your help with the export!"),
        ("user", "Let me know if the deploy must be repeated tonight."),
        ("assistant", "Let me check whether the root cause was the stale lock."),
        ("assistant", "I'll look at why the upload failed because of the token."),
        ("assistant", "The root cause was probably a stale lock in the scheduler."),
        ("assistant", "All 40 tests pass and the linter is happy."),
        ("assistant", "You can find out why the upload failed because I logged it."),
        ("tool", "We decided to keep the monorepo for another year."),
        ("system", "Always answer in the language of the customer."),
    ],
)
def test_leaves_alone(role: str, text: str) -> None:
    assert rules((role, text)) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Neither works, as I don't want to fly before noon.", "The user said: “I don't want to fly before noon.”"),
        ("That is too late because we deploy the shop on Tuesdays only.", "We deploy the shop on Tuesdays only."),
        (
            "I think the list breaks the invariant that every row must fit the given width.",
            "Every row must fit the given width",
        ),
        ("Does it keep the rule that every export must be signed twice?", "Every export must be signed twice"),
        ("I'm a gold member, so I believe I get two bags free.", "The user said: “I'm a gold member”"),
        ("That works for me if we ship late, because we deploy the shop on Tuesdays only.", None),
        ("That is perhaps wrong because we deploy the shop on Tuesdays only.", None),
        ("Does it break the rule that we made?", None),
    ],
)
def test_of_a_sentence_that_cannot_stand_what_can_is_kept(text: str, content: str | None) -> None:
    found = extract(session(("user", text))).candidates
    assert [item.content for item in found] == ([] if content is None else [content])
    assert all(item.evidence[0].quote == text for item in found)


TOLD = "I started pottery lessons last month with my daughter."


@pytest.mark.parametrize(
    ("turns", "rule"),
    [
        ([("user", TOLD)], ["user-event"]),
        ([("user", TOLD), ("assistant", "How lovely!")], ["user-event"]),
        ([("user", TOLD), ("tool", "calendar: nothing")], []),
        ([("system", "You book rooms."), ("user", TOLD)], []),
        ([("user", TOLD), ("user", "And why does `total()` fail?")], []),
        ([("user", "We're planning a hike around the lake in May.")], ["user-plan"]),
        ([("user", "My brother opened a bakery in Porto.")], ["user-life"]),
        ([("user", "I love how you painted that lake.")], []),
    ],
)
def test_of_their_lives_people_are_heard_where_they_only_talk(turns: list[tuple[str, str]], rule: list[str]) -> None:
    assert rules(*turns) == rule


SPOKEN = "The queue must never hold two jobs at once."


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("Great, thank you.", 1),
        ("yeah you can undo that, it was something else", 0),
        ("Never mind, I was wrong.", 0),
        ("Undo the last migration, please.", 1),
    ],
)
def test_what_a_person_takes_back_is_not_kept(reply: str, count: int) -> None:
    assert len(rules(("user", SPOKEN), ("assistant", "Done."), ("user", reply))) == count


def test_a_document_is_read_up_to_its_first_heading() -> None:
    plan = f"We deploy the shop on Tuesdays only.\n\n# Plan\n\n{SPOKEN}"
    assert rules(("user", plan)) == ["user-organisation"]


def test_a_sentence_longer_than_a_quote_may_be_is_left_out() -> None:
    assert rules(("user", f"{SPOKEN[:-1]}{'.' * 600}")) == []


CAUSE = "The root cause was a stale lock left behind by the old scheduler."


@pytest.mark.parametrize(
    ("turns", "count"),
    [
        ([("assistant", CAUSE)], 1),
        ([("assistant", CAUSE), ("user", "Thanks, that is it.")], 1),
        ([("assistant", CAUSE), ("tool", "lock: none"), ("assistant", "So the lock is not there at all.")], 0),
        ([("assistant", CAUSE), ("user", "no, that's not it")], 0),
        ([("assistant", CAUSE), ("user", "Still the same error.")], 0),
        ([("assistant", CAUSE), ("user", "No worries, go on.")], 1),
    ],
)
def test_an_agents_claim_counts_when_it_was_its_last_word_and_not_turned_down(turns: list, count: int) -> None:
    assert len(rules(*turns)) == count


def test_a_candidate_says_where_when_and_why() -> None:
    text = "Thanks!\n- **OK, we decided** to keep the monorepo for another year. And now the tests."
    [only] = extract(session(("tool", "noise"), ("user", text))).candidates
    assert only.content == "We decided to keep the monorepo for another year."
    assert (only.evidence[0].turn, only.when) == (1, AT)
    assert only.evidence[0].quote in text
    assert only.rationale.startswith("Rule user-decision: a decision and its reason")


def test_first_person_keeps_its_speaker() -> None:
    [only] = extract(session(("user", "I prefer answers without bullet lists."))).candidates
    assert only.content == "The user said: “I prefer answers without bullet lists.”"


def test_the_same_is_said_once() -> None:
    said = "We deploy the billing service on Tuesdays only."
    assert (
        len(
            rules(
                ("user", said),
                ("assistant", "Noted."),
                ("user", "Well, we deploy the billing service on Tuesdays only!"),
            )
        )
        == 1
    )


def test_earlier_turns_are_not_read_again() -> None:
    twice = session(("user", "We decided to keep the monorepo."), ("user", "We deploy the shop on Tuesdays only."))
    assert [item.evidence[0].turn for item in extract(twice, first_own=1).candidates] == [1]


def test_a_session_yields_no_more_than_the_cap_and_rules_first() -> None:
    turns = [("user", f"The queue of stage {number} must never hold two jobs.") for number in range(15)]
    found = rules(*turns, ("user", "Always drain the queues before a deploy."))
    assert len(found) == MAX_CANDIDATES_A_SESSION
    assert found[-1] == "user-rule"


def test_the_port() -> None:
    jobs = [ExtractionJob(UUID(int=n), session(("user", "We deploy the shop on Tuesdays only."))) for n in range(3)]
    outcomes = list(OfflineExtractor().extract_many(jobs))
    assert [run_id for run_id, _ in outcomes] == [job.run_id for job in jobs]
    assert all(isinstance(outcome, Done) and outcome.output.provenance == PROVENANCE for _, outcome in outcomes)
    assert (PROVENANCE.provider, PROVENANCE.model) == ("offline", "rules")


def test_the_same_transcript_gives_the_same_envelope() -> None:
    told = session(("user", SPOKEN), ("user", "We deploy the shop on Tuesdays only."), ("assistant", CAUSE))
    assert extract(told) == extract(told)


_PIECES = st.sampled_from(
    [SPOKEN, TOLD, CAUSE, "as we use", " the rule that ", "I'd prefer ", "# ", "`", "…", "“", " \n"]
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "tool"]),
            st.text(max_size=200) | st.lists(_PIECES | st.text(max_size=9), max_size=9).map("".join),
        ),
        max_size=5,
    )
)
def test_any_transcript_gives_an_envelope_whose_evidence_verifies(turns: list[tuple[str, str]]) -> None:
    transcript = session(*turns)
    for item in extract(transcript).candidates:
        assert check(item, transcript).verified


def test_real_sessions_yield_little_and_all_of_it_verifies(measuring_data: Path) -> None:
    found = 0
    paths = sorted(path for path in (measuring_data / "sessions").rglob("*") if path.is_file())
    for path in paths:
        transcript = read(path.read_text()).transcript
        candidates = extract(transcript).candidates
        found += len(candidates)
        assert all(check(item, transcript).verified for item in candidates)
    assert 5 <= found <= len(paths)
