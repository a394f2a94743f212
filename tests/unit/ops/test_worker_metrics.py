"""A worker started by the command serves the counts of its child processes."""

from __future__ import annotations

import subprocess
import sys

BEFORE_THE_CHOICE = "import sys, ops.cli; sys.exit('prometheus_client' in sys.modules)"


def test_no_command_imports_the_metrics_before_the_worker_chose_their_folder() -> None:
    """prometheus_client keeps counts in files only when PROMETHEUS_MULTIPROC_DIR is set at its first import."""
    assert subprocess.run([sys.executable, "-c", BEFORE_THE_CHOICE]).returncode == 0
