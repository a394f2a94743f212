"""Text aimed at steering whoever reads it later, rather than at saying how things are.

Each file is one form that such text takes, in the languages it has been seen in, by its structure and not by its lines:

    override.py   lifts what binds the reader            answers.py    dictates what the reader is to answer
    roles.py      gives the reader another part to play  prompts.py    asks for what steers the reader
    tasks.py      puts a new task in the place of the old  channels.py   poses as somebody who may command
    later.py      binds whoever comes later, hides from people

Failure handling: none is needed; the answer to any text is the forms found. A form it misses passes the gate as a fact,
so a new one is a row in the table of its file, with sentences for and against it among the tests.
"""

from __future__ import annotations

from pipeline.extraction.wording.instructions import answers, channels, later, override, prompts, roles, tasks
from pipeline.extraction.wording.shown import shown
from pipeline.extraction.wording.table import Table

FORMS: dict[str, Table] = {
    "override": override.TABLE,
    "role": roles.TABLE,
    "task": tasks.TABLE,
    "answer": answers.TABLE,
    "prompt": prompts.TABLE,
    "channel": channels.TABLE,
    "later": later.TABLE,
}


def steering(text: str) -> tuple[str, ...]:
    """The forms of steering in a text; empty where it says how things are."""
    visible = shown(text)
    found = [form for form, table in FORMS.items() if table.search(visible)]
    if "role" not in found and roles.NAMED.search(text):
        found.append("role")
    return tuple(found)
