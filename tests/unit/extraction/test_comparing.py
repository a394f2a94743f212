"""Two envelopes of one session, side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.candidate import Candidate, Kind
from pipeline.extraction.comparing import compare


def said(content: str, kind: Kind = Kind.FACT) -> Candidate:
    return Candidate(content=content, kind=kind, rationale="r")


def test_what_says_the_same_is_a_pair_and_what_stands_alone_is_shown_alone() -> None:
    a = [said("Backups go to Porto."), said("The exports go to the Lisbon archive.")]
    b = [said("the exports go to the Lisbon archive"), said("The fence is green.")]
    compared = compare(a, b)
    [pair] = compared.pairs
    assert (pair.a, pair.b, pair.alike) == (a[1], b[0], True)
    assert (compared.only_a, compared.only_b) == ((a[0],), (b[1],))


def test_another_kind_or_another_place_is_alike_in_words_alone() -> None:
    for other in (said("Exports go to the Lisbon archive.", Kind.RULE), said("Exports go to the Porto archive.")):
        [pair] = compare([said("Exports go to the Lisbon archive.")], [other]).pairs
        assert not pair.alike


def test_the_most_alike_are_paired_first() -> None:
    a = [said("Exports go to the Porto archive."), said("Exports go to the Lisbon archive.")]
    b = [said("Exports go to the Lisbon archive.")]
    compared = compare(a, b)
    assert compared.pairs[0].a == a[1]
    assert compared.only_a == (a[0],)


_SAID = ["Exports go to Lisbon.", "exports go to lisbon", "Backups go to Porto.", "Hm."]
_WORDS = st.lists(st.sampled_from(_SAID), max_size=5)


@given(_WORDS, _WORDS)
def test_every_candidate_is_in_one_place(left: list[str], right: list[str]) -> None:
    compared = compare([said(text) for text in left], [said(text) for text in right])
    assert sorted(text for text in left) == sorted(
        [pair.a.content for pair in compared.pairs] + [one.content for one in compared.only_a]
    )
    assert sorted(text for text in right) == sorted(
        [pair.b.content for pair in compared.pairs] + [one.content for one in compared.only_b]
    )
