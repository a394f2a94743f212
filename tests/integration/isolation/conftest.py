"""The fleet without an org, and the command line over the same services."""

from __future__ import annotations

from tests.integration.cli.conftest import cli
from tests.integration.workers.conftest import fleet

__all__ = ["cli", "fleet"]
