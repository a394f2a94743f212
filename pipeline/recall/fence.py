"""The fence around recalled memory in a prompt: written by recall, cut out again by the readers of session logs."""

from __future__ import annotations

from typing import Final

FENCE_OPEN_PREFIX: Final = "<afterword-memory"
"""Start of the opening tag; attributes may follow, then `>`."""

FENCE_CLOSE: Final = "</afterword-memory>"
