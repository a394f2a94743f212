"""python -m tests.benchmarks.detection.languages: in which languages does the bundled model find people and addresses?

Sentences of our own in languages.tsv, the sought part in brackets. What it shows stands in docs/detection.md.
"""

from __future__ import annotations

import re
from pathlib import Path

from ops.compose import make_ner
from ops.settings import Settings
from pipeline.redaction.span import Detector

SENTENCES = Path(__file__).with_suffix(".tsv")


def main() -> None:
    ner = make_ner(Settings(ner="rampart"))
    assert ner is not None
    shares: dict[str, dict[str, tuple[int, int]]] = {}
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            language, cls, marked = line.split("\t")
            before, of = shares.setdefault(language, {}).get(cls, (0, 0))
            found, wanted = seen(ner, cls, marked)
            shares[language][cls] = before + found, of + wanted
    for language, by_class in shares.items():
        print(language, *(f"{cls} {found / wanted:.2f}" for cls, (found, wanted) in by_class.items()), sep="  ")


def seen(detector: Detector, cls: str, marked: str) -> tuple[int, int]:
    """Letters and digits found of those in brackets, and how many those are."""
    match = re.search(r"\[(.*)\]", marked)
    assert match is not None
    text = marked.replace("[", "").replace("]", "")
    hits = {at for span in detector.detect(text) if span.cls == cls for at in range(span.start, span.end)}
    wanted = [at for at in range(match.start(), match.end() - 2) if text[at].isalnum()]
    return sum(at in hits for at in wanted), len(wanted)


if __name__ == "__main__":
    main()
