"""Addresses by format, and what only sounds like a street."""

from __future__ import annotations

import pytest

from pipeline.redaction.detectors.address import Address
from pipeline.redaction.folding import fold
from pipeline.redaction.prefilter import Prefilter
from pipeline.redaction.span import Detector

ASKED = Prefilter[Detector]([Address()])


def found(text: str) -> list[str]:
    """Through the prefilter, as it is run."""
    return [text[span.start : span.end] for detector in ASKED(text) for span in detector.detect(text)]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("meet at 14 Crown Street, Apt. 5 today", ["14 Crown Street, Apt. 5"]),
        ("221B Baker St. is known", ["221B Baker St."]),
        ("at 1600 Martin Luther King Blvd", ["1600 Martin Luther King Blvd"]),
        ("wohnt Lindenstraße 14 in Köln", ["Lindenstraße 14"]),
        ("Hauptstr. 5b, 80331 München", ["Hauptstr. 5b"]),
        ("au 12 rue des Lilas, Lyon", ["12 rue des Lilas"]),
        ("8 bis, boulevard Gambetta", ["8 bis, boulevard Gambetta"]),
        ("en la Calle de Alcalá 150 hoy", ["Calle de Alcalá 150"]),
        ("in Via Garibaldi, 18 a Bologna", ["Via Garibaldi, 18"]),
        ("na Rua das Flores 45", ["Rua das Flores 45"]),
        ("op de Kerkstraat 21", ["Kerkstraat 21"]),
        ("på Storgatan 12", ["Storgatan 12"]),
        ("przy ul. Długiej 15", ["ul. Długiej 15"]),
        ("Petőfi utca 7", ["Petőfi utca 7"]),
        ("Bağdat Caddesi No: 120", ["Bağdat Caddesi No: 120"]),
        ("на улице нет, ул. Ленина, 15", ["ул. Ленина, 15"]),
        ("她住在建国路88号。", ["她住在建国路88号"]),
        ("住所は東京都渋谷区神南1-2-3です", ["東京都渋谷区神南1-2-3"]),
        ("write to P.O. Box 149", ["P.O. Box 149"]),
        ("Postfach 1234, Bonn", ["Postfach 1234"]),
        ("PSC 1437, Box 3833\nAPO AA 66791", ["PSC 1437, Box 3833\nAPO AA 66791"]),
        ("Unit 8505 Box 9220\nDPO AE 90744", ["Unit 8505 Box 9220\nDPO AE 90744"]),
        ("USNV Botolen\nFPO AE 12382", ["USNV Botolen\nFPO AE 12382"]),
        ("１４ Crown Street", ["１４ Crown Street"]),
        ("14 Cro\u200bwn Street", ["14 Cro\u200bwn Street"]),
        ("Use 2 worker threads and drive on", []),
        ("Next.js 14 with Tailwind", []),
        ("In 2024 we moved the Avenue project", []),
        ("via Slack 3 times", []),
        ("Section 5 Drive", []),
        ("v2 Street map", []),
        ("the drop-down box 3", []),
        ("Platz 3 im Ranking", []),
        ("Unit 12 tests", []),
        ("rue the day", []),
    ],
)
def test_addresses(text: str, addresses: list[str]) -> None:
    assert found(text) == addresses


def test_the_trigger_lets_every_hit_through() -> None:
    for text in ("Kauppakatu 18", "Ermannstraße 1", "C 5 Rue Bleue", "Via Roma 1", "Пр. Мира 101"):
        assert bool(found(text)) == bool(Address().detect(text)), text
    assert fold("Straße").data == b"Stra?e"
