"""A token-classification model in this process, by ONNX Runtime, from files: no network, no code of a model's package.

    texts --tokenizer--> windows of tokens, overlapping --batches of like length--> probabilities --> roles

A text of any length is read to its end: in windows, of which each token's scores are taken where it has most around
it. A text's answer does not depend on the texts beside it, as far as the model's own arithmetic keeps to that.

Threads are the process's alone and bounded; they do not survive a fork, so that the model loads on first use, in the
process that uses it, and a process that was forked after that refuses to call.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from pipeline.errors import ModelRefused, SettingError
from pipeline.redaction.adapters import model_files
from pipeline.redaction.adapters.model_files import EXTRA, ModelFiles
from pipeline.redaction.ner.labels import roles_of
from pipeline.redaction.ner.port import Scores, Tagged
from pipeline.redaction.ner.roles import Role
from pipeline.redaction.ner.windows import WHOLE_TOKENS, windows

BATCH_TOKENS: Final = 1024
"""Padded tokens a call: eight texts of a hundred run as fast as sixty-four, in 30 MB."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, eq=False, slots=True)
class _Window:
    """`ids` are tokens [start, start + len(ids)) of text number `text`."""

    text: int
    start: int
    ids: Sequence[int]


@dataclass(frozen=True)
class _Loaded:
    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    before: tuple[int, ...]
    after: tuple[int, ...]
    columns: Scores  # (labels, roles), 1 where a label has that role
    pad: int
    pid: int


class OnnxTagger:
    """The model in `folder`, whose digest is `sha256`. Construction reads nothing.

    `said`: labels whose role an operator stated. `setting`: the name that errors begin with. `pack`: weights stored
    in 4 bit are packed into 8 while loading. Raises SettingError where the model, or what runs it, is missing or not
    what it should be.
    """

    def __init__(
        self, folder: Path | None, sha256: str, *, setting: str, said: Mapping[str, Role | None] | None = None,
        pack: bool = False, threads: int = 1
    ) -> None:  # fmt: skip
        self._folder, self._sha256, self._setting = folder, sha256, setting
        self._said, self._pack, self._threads = said or {}, pack, threads
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @cached_property
    def _files(self) -> ModelFiles:
        return model_files.read(self._folder or model_files.bundled(), self._sha256, self._setting)

    @cached_property
    def _roles(self) -> dict[int, Role]:
        labels = self._files.config.get("id2label", {})
        return roles_of({int(number): str(label) for number, label in labels.items()}, self._said)

    @property
    def revision(self) -> str:
        return self._sha256

    @property
    def roles(self) -> frozenset[Role]:
        return frozenset(self._roles.values())

    def verify(self) -> None:
        needed = ["onnxruntime", "tokenizers", *(["onnx"] if self._pack else [])]
        missing = [name for name in needed if find_spec(name) is None]
        if missing:
            raise _lacking(self._setting, ", ".join(missing))
        self._roles  # noqa: B018

    def tag(self, texts: Sequence[str]) -> list[Tagged]:
        if not texts:
            return []
        loaded = self.load()
        encodings = [loaded.tokenizer.encode(_clean(text), add_special_tokens=False) for text in texts]
        scores = [np.zeros((len(encoding.ids), len(Role)), np.float32) for encoding in encodings]
        parts = [
            _Window(number, start, encoding.ids[start:end])
            for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True))
            for start, end in windows(text, encoding.offsets)
        ]
        rows = {
            part: found for batch in _batches(parts) for part, found in zip(batch, _run(loaded, batch), strict=True)
        }
        for number, of_text in groupby(parts, key=lambda part: part.text):
            together = list(of_text)
            _take(scores[number], together, [rows[part] for part in together])
        return [Tagged(encoding.offsets, rows) for encoding, rows in zip(encodings, scores, strict=True)]

    def load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._files, self._roles, self._setting, self._pack, self._threads)
                del self._files  # its weights are in the session now
            if self._loaded.pid != os.getpid():
                raise ModelRefused(f"{self._setting}: the model was loaded before this process was forked")
            return self._loaded


def _clean(text: str) -> str:
    """What has no UTF-8 is replaced by one character, so that offsets stay."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _batches(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Of like length, so that little is padding."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        if batch and (len(batch) + 1) * len(window.ids) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _run(loaded: _Loaded, batch: Sequence[_Window]) -> Iterator[Scores]:
    """The scores of each window's tokens, those around it left out."""
    rows = [[*loaded.before, *window.ids, *loaded.after] for window in batch]
    shape = (len(rows), max(map(len, rows)))
    ids, mask = np.full(shape, loaded.pad, np.int64), np.zeros(shape, np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
    logits = loaded.session.run(None, {name: fed[name] for name in loaded.inputs})[0]
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    scores = (odds / odds.sum(-1, keepdims=True)) @ loaded.columns
    first = len(loaded.before)
    return (scores[number, first : first + len(window.ids)] for number, window in enumerate(batch))


def _take(scores: Scores, windows: Sequence[_Window], rows: Sequence[Scores]) -> None:
    """Windows of one text, in order. Of what two share, each keeps the half that is nearer to its middle."""
    done = 0
    for window, found in zip(windows, rows, strict=True):
        skip = (done - window.start) // 2
        done = window.start + len(window.ids)
        scores[window.start + skip : done] = found[skip:]


def _load(files: ModelFiles, roles: Mapping[int, Role], setting: str, pack: bool, threads: int) -> _Loaded:
    try:
        if pack:
            files = replace(files, weights=_packed(files.weights))
        session, tokenizer = model_files.opened(files, threads)
    except ImportError as error:
        raise _lacking(setting, str(error)) from error
    except Exception as error:  # what the libraries raise has no base of its own
        raise SettingError(f"{setting}: the model does not load: {error}") from error
    columns = np.zeros((len(files.config["id2label"]), len(Role)), np.float32)
    for number, role in roles.items():
        columns[number, role] = 1
    before, after = model_files.around(tokenizer)
    _refuse_what_does_not_fit(files, session, len(before) + len(after), setting)
    inputs = frozenset(item.name for item in session.get_inputs())
    pad = int(files.config.get("pad_token_id") or 0)
    return _Loaded(session, tokenizer, inputs, before, after, columns, pad, os.getpid())


def _lacking(setting: str, what: str) -> SettingError:
    return SettingError(f"{setting} needs {what}: {EXTRA}")


def _packed(weights: bytes) -> bytes:
    from pipeline.redaction.adapters.requantised import requantised

    return requantised(weights)


def _refuse_what_does_not_fit(files: ModelFiles, session: Any, around: int, setting: str) -> None:
    unknown = {item.name for item in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown:
        raise SettingError(f"{setting}: the model asks for {', '.join(sorted(unknown))}; it labels no tokens")
    room = files.config.get("max_position_embeddings")
    if room is not None and room < WHOLE_TOKENS + around + 2:
        raise SettingError(f"{setting}: the model has room for {room} tokens; {WHOLE_TOKENS + around + 2} are needed")
    shape = session.get_outputs()[0].shape
    labels = len(files.config["id2label"])
    if len(shape) != 3 or (shape[2] not in (labels, None) and not isinstance(shape[2], str)):
        raise SettingError(f"{setting}: the model answers in the shape {shape}, not one row of {labels} per token")
