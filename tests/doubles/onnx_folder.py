"""A folder with a tiny ONNX model that embeds: a vector per word, out of a table, and attention to nothing.

    folder, sha256 = write(tmp_path, {"harbour": [1, 0], "bill": [0, 1]})

Words the table lacks are [UNK], a zero vector. Every text stands between [CLS] and [SEP], as in BERT.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    *,
    positions: int = 514,
    special: Mapping[str, float] | None = None,
) -> tuple[Path, str]:
    """`special`: what a special token has in the first dimension; 0 otherwise."""
    dimension = len(next(iter(words.values())))
    vocabulary = [*SPECIAL, *words]
    table = np.zeros((len(vocabulary), dimension), np.float32)
    for number, word in enumerate(vocabulary):
        table[number] = words[word] if word in words else [(special or {}).get(word, 0), *[0] * (dimension - 1)]
    config = json.dumps({"hidden_size": dimension, "max_position_embeddings": positions, "pad_token_id": 0})
    parts = [config.encode(), _tokenizer(vocabulary).encode(), _weights(table)]
    for name, content in zip(("config.json", "tokenizer.json", "model.onnx"), parts, strict=True):
        (folder / name).write_bytes(content)
    return folder, hashlib.sha256(b"".join(parts)).hexdigest()


def _tokenizer(vocabulary: Sequence[str]) -> str:
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return str(tokenizer.to_str())


def _weights(table: np.ndarray) -> bytes:
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"])
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", table.shape[1]])
    gather = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([gather], "words", [ids, mask], [out], [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
