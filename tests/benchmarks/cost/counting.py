"""Counts tokens with a tokenizer whose table comes in its wheel; runs in the environment of the peers.

Reads a JSON list of texts from standard input, writes a JSON list of counts.
"""

import json
import sys
from importlib.resources import files

from mistral_common.tokens.tokenizers.tekken import Tekkenizer

tokenizer = Tekkenizer.from_file(str(files("mistral_common") / "data" / "tekken_240911.json"))
json.dump([len(tokenizer.encode(text, bos=False, eos=False)) for text in json.load(sys.stdin)], sys.stdout)
