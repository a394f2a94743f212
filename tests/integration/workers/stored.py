"""What stands in a database, whoever may read it."""

from __future__ import annotations

import base64
import json
from typing import Any

import psycopg
from psycopg import sql

from pipeline.transcripts import inflate
from tests.services import Database


def stored(database: Database) -> str:
    """Every value of every table as text, packed bodies opened."""
    texts = []
    with psycopg.connect(database.admin) as conn:
        tables = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'afterword'").fetchall()
        for (table,) in tables:
            for row in conn.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))):
                texts += [_text(value) for value in row]
    return "\n".join(texts)


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        return json.dumps(value, default=str, ensure_ascii=False).replace("\\n", "\n")
    try:
        opened = inflate(value, 64 << 20).decode()
    except ValueError:
        return value.decode("latin-1")
    for part in opened.split('"'):
        if part.startswith("KLUv/"):  # base64 of a zstd frame
            opened += inflate(base64.b64decode(part)).decode()
    return opened.replace("\\n", "\n")
