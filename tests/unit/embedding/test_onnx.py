"""A model from a folder: pooled, prefixed and windowed right, by what ranks first; and refused where it is another."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the tiny model is built with onnx")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from pipeline.embedding.adapters.onnx import OnnxEmbedder, OnnxModel
from pipeline.embedding.probe import probe
from pipeline.errors import ModelRefused, SettingError
from tests.doubles.onnx_folder import write

WORDS = {
    "harbour": [1.0, 0.0, 0.0],
    "bill": [0.0, 1.0, 0.0],
    "filler": [0.0, 0.0, 0.2],
    "mud": [-1.0, 0.0, 0.0],
    "ask:": [0.0, 2.0, 0.0],
    "tell:": [-2.0, 0.0, 0.0],
}


def model(tmp_path: Path, **changes: object) -> OnnxEmbedder:
    written, sha256 = write(tmp_path, WORDS, positions=int(str(changes.pop("positions", 514))))
    settings = {"folder": written, "sha256": sha256, "name": "words", "dimension": 3} | changes
    return OnnxEmbedder(OnnxModel(**settings))  # type: ignore[arg-type]


def first(embedder: OnnxEmbedder, question: str, texts: list[str]) -> int:
    return int(np.argmax(embedder.passages(texts) @ embedder.query(question)))


def test_it_keeps_its_stamps_promise(tmp_path: Path) -> None:
    embedder = model(tmp_path)
    with pytest.raises(SettingError, match="no length"):
        probe(embedder)  # which knows none of the probe's words
    found = embedder.passages(["harbour bill", "bill", "harbour"])
    np.testing.assert_allclose(found, [[0.5**0.5, 0.5**0.5, 0], [0, 1, 0], [1, 0, 0]], atol=1e-6)
    assert found.dtype == np.float32
    assert embedder.passages([]).shape == (0, 3)


def test_padding_beside_a_longer_text_changes_nothing(tmp_path: Path) -> None:
    embedder = model(tmp_path)
    together = embedder.passages(["harbour", "bill filler " * 200])
    np.testing.assert_allclose(together[0], embedder.passages(["harbour"])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("query_prefix", "passage_prefix", "best"),
    [
        ("", "", 0),
        ("ask: ", "tell: ", 1),
        ("tell: ", "ask: ", 2),
        ("ask: ", "", 1),
        ("tell: ", "", 2),
        ("", "tell: ", 1),
    ],
)
def test_each_side_has_its_own_prefix_and_a_wrong_one_ranks_another_first(
    tmp_path: Path, query_prefix: str, passage_prefix: str, best: int
) -> None:
    embedder = model(tmp_path, query_prefix=query_prefix, passage_prefix=passage_prefix)
    assert first(embedder, "harbour", ["harbour", "bill", "mud"]) == best


@pytest.mark.parametrize("prefix", ["", "filler "])
def test_what_stands_late_in_a_long_text_still_ranks(tmp_path: Path, prefix: str) -> None:
    """The model has room for 14 tokens; each text has 201, of which only the last tells them apart."""
    embedder = model(tmp_path, positions=16, passage_prefix=prefix)
    filler = "filler " * 200
    assert first(embedder, "harbour", [filler + "bill", filler + "harbour"]) == 1
    assert first(embedder, "bill", [filler + "bill", filler + "harbour"]) == 0
    whole = model(tmp_path).passages([filler + "bill"])[0]
    np.testing.assert_allclose(model(tmp_path, positions=16).passages([filler + "bill"])[0], whole, atol=1e-6)


def test_pooling_by_the_first_token(tmp_path: Path) -> None:
    folder, sha256 = write(tmp_path, WORDS, special={"[CLS]": 1.0})
    by_first = OnnxEmbedder(OnnxModel(folder=folder, sha256=sha256, name="w", dimension=3, pooling="cls"))
    np.testing.assert_allclose(by_first.passages(["bill"])[0], [1, 0, 0], atol=1e-6)
    by_mean = OnnxEmbedder(OnnxModel(folder=folder, sha256=sha256, name="w", dimension=3))
    np.testing.assert_allclose(by_mean.passages(["bill"])[0], [0.5**0.5, 0.5**0.5, 0], atol=1e-6)
    assert by_first.stamp != by_mean.stamp


def test_what_makes_another_space_makes_another_stamp(tmp_path: Path) -> None:
    made = [
        model(tmp_path),
        model(tmp_path, query_prefix="ask: "),
        model(tmp_path, passage_prefix="ask: "),
        model(tmp_path, sha256="0" * 64),
        model(tmp_path, name="other"),
    ]
    assert len({embedder.stamp for embedder in made}) == len(made)
    assert model(tmp_path, threads=2).stamp == made[0].stamp


def test_text_that_no_word_is_known_of_is_refused_not_stored(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="no length"):
        model(tmp_path).passages(["unheard"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dimension": 4}, "AFTERWORD_EMBEDDING_DIMENSION is 4, but the model's vectors have 3"),
        ({"sha256": "0" * 64}, "AFTERWORD_EMBEDDER=onnx: the model in .* has SHA-256"),
        ({"folder": Path("/nonexistent")}, "AFTERWORD_EMBEDDER=onnx: the model in /nonexistent cannot be read"),
    ],
)
def test_another_model_is_refused(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        model(tmp_path, **changes).query("harbour")


def test_a_missing_library_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SettingError, match=r"pip install 'afterword-server\[onnx\]'"):
        model(tmp_path).query("harbour")


def test_a_forked_process_refuses_instead_of_hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = model(tmp_path)
    embedder.query("harbour")
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as after a fork
    with pytest.raises(ModelRefused, match="before this process was forked"):
        embedder.query("harbour")
