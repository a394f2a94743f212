"""A transcript as it is kept: zstd over its JSON. Bytes in, bytes out."""

from __future__ import annotations

import zstandard

from pipeline.session import MAX_TRANSCRIPT_BYTES, Transcript

_LEVEL = 3


class Overlong(ValueError):
    """More bytes than may be."""


def pack(transcript: Transcript) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(transcript.model_dump_json(exclude_none=True).encode())


def unpack(body: bytes) -> Transcript:
    """Raises ValueError for what is no packed transcript, or one over 16 MB."""
    return Transcript.model_validate_json(inflate(body))


def inflate(body: bytes, limit: int = MAX_TRANSCRIPT_BYTES) -> bytes:
    """At most `limit` bytes, however much the frame claims or holds. Raises ValueError, Overlong for more."""
    try:
        with zstandard.ZstdDecompressor().stream_reader(body) as reader:
            data = reader.read(limit + 1)
    except zstandard.ZstdError as error:
        raise ValueError(f"not zstd: {error}") from None
    if len(data) > limit:
        raise Overlong(f"over {limit:,} bytes when decompressed")
    return data


def is_zstd(body: bytes) -> bool:
    """Whether `body` begins a zstd frame, which no JSON does."""
    return body.startswith(zstandard.FRAME_HEADER)


def deflate(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)
