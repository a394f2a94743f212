"""What a national number looks like, what proves it and which words name it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import re2

Check = Callable[[str], bool]

_SEPARATORS = ("", " ", "-", ".")


@dataclass(frozen=True)
class Format:
    """`name` begins with the country's ISO code; `shape` is RE2's syntax, matched without regard to case.

    `check` is a check digit's and `plausible` that of dates and prefixes, which prove nothing; both take the number as
    it stands. `own`: a shape so common that only the words of this format count, not all those of its language.
    `bare`: proven beyond a check digit, so that no word is needed.
    """

    name: str
    shape: str
    check: Check | None = None
    plausible: Check | None = None
    own: bool = False
    bare: bool = False

    @property
    def country(self) -> str:
        return self.name[:2]

    @cached_property
    def pattern(self) -> Any:
        """Leftmost and longest, so that the order of a shape's alternatives does not matter."""
        options = re2.Options()
        options.longest_match = True
        return re2.compile(f"(?i)(?:{self.shape})".encode(), options)

    def valid(self, number: str) -> bool:
        """Digits that are all the same pass many checks and are issued nowhere."""
        test = self.check or self.plausible
        filler = number.isdigit() and len(set(number)) == 1
        return not filler and (test is None or test(number))

    @property
    def module(self) -> str | None:
        """The module of python-stdnum that checks it."""
        return self.check.module if isinstance(self.check, Std) else None

    @property
    def lettered(self) -> bool:
        """Its shape demands letters, which few numbers of other kinds have."""
        return "[A-Z" in self.shape or self.shape[:2].isalpha()


def groups(*sizes: int, separators: tuple[str, ...] = _SEPARATORS) -> str:
    """Groups of so many digits, run together or parted by one sign throughout."""
    return "|".join(re2.escape(sign).join(rf"\d{{{size}}}" for size in sizes) for sign in separators)


def _is_valid(module: str, number: str) -> bool:
    """Some modules raise on numbers that their tables do not know, instead of saying that they are none."""
    try:
        return bool(import_module(f"stdnum.{module}").is_valid(number))
    except (LookupError, ValueError, TypeError, AttributeError):
        return False


@dataclass(frozen=True)
class Std:
    """The check of a module of python-stdnum, loaded when first asked."""

    module: str

    def __call__(self, number: str) -> bool:
        return any(_is_valid(self.module, spelling) for spelling in (number, re2.sub(r"[ :._/-]", "", number)))
