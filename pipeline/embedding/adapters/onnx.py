"""Any sentence-embedding model in this process, by ONNX Runtime, from a folder: no network, no code of the model's.

    texts --tokenizer--> windows of tokens --batches of like length--> a vector per token --pooled--> one per text

In place of sentence-transformers, which brings torch and fetches what it is named: the same models are published as
ONNX, and a folder whose digest is stated is what runs.

A text longer than the model's room is not cut: it is read in windows, each behind the prefix, and its vector is their
average weighted by tokens. Threads do not survive a fork, so that the model loads on first use, in the process that
uses it, and a process that was forked after that refuses to call.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

import numpy as np

from pipeline.embedding.adapters.vectors import unit
from pipeline.embedding.port import Stamp, Vectors
from pipeline.errors import ModelRefused, SettingError
from pipeline.redaction.adapters import model_files
from pipeline.session import storable

Pooling = Literal["mean", "cls"]
SETTING: Final = "AFTERWORD_EMBEDDER=onnx"
WINDOW_TOKENS: Final = 512
"""What most of these models were trained on; a text of 2,000 characters seldom has more."""
BATCH_TOKENS: Final = 4096
"""Padded tokens a call, so that memory is bounded: eight texts of the greatest length."""
INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxModel:
    """Which model, and how it is asked: `folder` holds config.json, tokenizer.json and one .onnx, `sha256` is theirs.

    e5-like models need `query_prefix="query: "` and `passage_prefix="passage: "`; bge pools by `cls`.
    """

    folder: Path
    sha256: str
    name: str
    dimension: int
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int = 1

    @property
    def stamp(self) -> Stamp:
        """Another file, pooling or prefix makes another space."""
        asked = "\x1f".join((self.pooling, self.query_prefix, self.passage_prefix))
        revision = f"{self.sha256.lower()[:12]}-{hashlib.sha256(asked.encode()).hexdigest()[:8]}"
        return Stamp("onnx", self.name, revision, self.dimension)


@dataclass(frozen=True, eq=False, slots=True)
class _Window:
    """The tokens of a part of text number `text`, with what the model expects around them."""

    text: int
    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    before: tuple[int, ...]
    after: tuple[int, ...]
    pad: int
    room: int
    pid: int


class OnnxEmbedder:
    """The model on its `threads`. Construction reads nothing; the first text loads and verifies the files.

    Raises SettingError where the model, or what runs it, is missing or not what the settings say.
    """

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @property
    def stamp(self) -> Stamp:
        return self._model.stamp

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension)."""
        return self._embed(self._model.passage_prefix, texts)

    def query(self, text: str) -> Vectors:
        """Shape (dimension,)."""
        return self._embed(self._model.query_prefix, [text])[0]  # type: ignore[no-any-return]

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), self._model.dimension), np.float64)
        if not texts:
            return sums.astype(np.float32)
        loaded = self._load()
        windows = [part for n, text in enumerate(texts) for part in _windows(loaded, n, prefix, storable(text))]
        for batch in _batches(windows):
            for window, row in zip(batch, self._pooled(loaded, batch), strict=True):
                sums[window.text] += len(window.ids) * row
        return unit(sums)

    def _pooled(self, loaded: _Loaded, batch: Sequence[_Window]) -> Vectors:
        """Shape (len(batch), dimension)."""
        shape = (len(batch), max(len(window.ids) for window in batch))
        ids, mask = np.full(shape, loaded.pad, np.int64), np.zeros(shape, np.int64)
        for number, window in enumerate(batch):
            ids[number, : len(window.ids)], mask[number, : len(window.ids)] = window.ids, 1
        fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
        tokens: Vectors = loaded.session.run(None, {name: fed[name] for name in loaded.inputs})[0]
        if tokens.shape != (*shape, self._model.dimension):
            raise _other_shape(tokens.shape, self._model.dimension)
        if self._model.pooling == "cls":
            return tokens[:, 0]
        weights = mask[:, :, np.newaxis]
        return np.asarray((tokens * weights).sum(1) / weights.sum(1))

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._model)
            if self._loaded.pid != os.getpid():
                raise ModelRefused(f"{SETTING}: the model was loaded before this process was forked")
            return self._loaded


def _windows(loaded: _Loaded, number: int, prefix: str, text: str) -> Iterator[_Window]:
    """Prefix and text are tokenised as one, as the model was trained; each window begins with the prefix's tokens."""
    encoding = loaded.tokenizer.encode(prefix + text, add_special_tokens=False)
    head = sum(end <= len(prefix) for _, end in encoding.offsets)
    lead, rest = encoding.ids[:head], encoding.ids[head:]
    size = max(1, loaded.room - len(loaded.before) - len(loaded.after) - head)
    for start in range(0, max(1, len(rest)), size):
        ids = [*loaded.before, *lead, *rest[start : start + size], *loaded.after]
        yield _Window(number, ids or [loaded.pad])


def _batches(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Of like length, so that little is padding."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        if batch and (len(batch) + 1) * len(window.ids) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    yield batch


def _load(model: OnnxModel) -> _Loaded:
    files = model_files.read(model.folder, model.sha256, SETTING)
    try:
        session, tokenizer = model_files.opened(files, model.threads)
    except ImportError as error:
        raise SettingError(f"{SETTING} needs {error.name}: pip install 'afterword-server[onnx]'") from error
    except Exception as error:  # what the libraries raise has no base of its own
        raise SettingError(f"{SETTING}: the model does not load: {error}") from error
    inputs = frozenset(item.name for item in session.get_inputs())
    if unknown := inputs - INPUTS:
        raise SettingError(f"{SETTING}: the model asks for {', '.join(sorted(unknown))}; it embeds no text by itself")
    before, after = model_files.around(tokenizer)
    pad, positions = int(files.config.get("pad_token_id") or 0), files.config.get("max_position_embeddings")
    # RoBERTa counts positions from behind the padding's; two fewer are right for all.
    room = WINDOW_TOKENS if positions is None else min(WINDOW_TOKENS, int(positions) - 2)
    return _Loaded(session, tokenizer, inputs, before, after, pad, room, os.getpid())


def _other_shape(found: tuple[int, ...], dimension: int) -> SettingError:
    if len(found) != 3:
        return SettingError(f"{SETTING}: the model's first output has shape {found}, not one vector per token")
    return SettingError(f"AFTERWORD_EMBEDDING_DIMENSION is {dimension}, but the model's vectors have {found[2]}")
