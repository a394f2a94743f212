"""python -m tests.benchmarks.detection.secrets DATA: what the secret detectors find, and what they take for a secret.

creddata_dev_lines   lines of real files; the folder's own scorer counts. Its repositories fall in two halves by a hash
                     of their name: rules are made by looking at one and are only ever scored on the other
gitleaks_cases       a case is hit by any span; a negative whose very text is a positive of another rule is left out,
                     and `gitleaks_fp_as_listed` counts it all the same
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.redaction.classes import SECRET
from pipeline.redaction.detectors import ALL
from pipeline.redaction.prefilter import Prefilter

_ASKED = Prefilter([detector for detector in ALL if SECRET in detector.classes])


def measure(data: Path) -> dict[str, float]:
    lines = _rows(data / "secrets" / "creddata_dev_lines.jsonl.gz")
    whole = _scored(data, lines)
    figures = {"secrets_recall": whole["recall"], "secrets_precision": whole["precision"]}
    for name, half in (("looked_at", True), ("only_scored", False)):
        scored = _scored(data, [row for row in lines if _looked_at(row["repo"]) is half])
        figures[f"secrets_recall_{name}"] = scored["recall"]
        figures[f"secrets_precision_{name}"] = scored["precision"]
    return figures | _gitleaks(_rows(data / "secrets" / "gitleaks_cases.jsonl.gz"))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


def _looked_at(repository: str) -> bool:
    return int(hashlib.sha256(repository.encode()).hexdigest(), 16) % 2 == 0


def _scored(data: Path, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        lines, predictions = Path(folder) / "lines.jsonl.gz", Path(folder) / "predictions.jsonl"
        with gzip.open(lines, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        predictions.write_text("".join(map(_prediction, range(len(rows)), (row["line"] for row in rows))))
        command = [sys.executable, data / "score" / "secrets.py", lines, predictions]
        scored: dict[str, float] = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
    return scored


def _prediction(number: int, line: str) -> str:
    spans = [{"class": span.cls, "start": span.start, "end": span.end} for d in _ASKED(line) for span in d.detect(line)]
    return json.dumps({"id": number, "spans": spans}) + "\n"


def _gitleaks(cases: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    positives = [case["text"] for case in cases if case["label"] == "tp"]
    negatives = [case["text"] for case in cases if case["label"] == "fp"]
    undisputed = [text for text in negatives if text not in set(positives)]
    return {
        "gitleaks_tp": _share_hit(positives),
        "gitleaks_fp": _share_hit(undisputed),
        "gitleaks_fp_as_listed": _share_hit(negatives),
    }


def _share_hit(texts: Iterable[str]) -> float:
    hits = [any(detector.detect(text) for detector in _ASKED(text)) for text in texts]
    return sum(hits) / len(hits)


if __name__ == "__main__":
    for name, figure in measure(Path(sys.argv[1])).items():
        print(f"{name} {figure:.4f}")
