"""A limit of open files that is too low is said before anything runs."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

_RUN = [sys.executable, "-m", "npu_conformance", "run", "vts.queries", "--plugin", "reference", "--report", "kept"]


@pytest.mark.parametrize(("soft", "hard", "code"), [(32, 32, 2), (32, 256, 0)])
def test_a_low_limit_is_raised_or_said(soft: int, hard: int, code: int, tmp_path: Path) -> None:
    done = subprocess.run(
        _RUN,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    if code:
        line = "npu-conformance: a run needs at least 64 open files, and the limit is 32 (ulimit -n)\n"
        assert done.stderr == line
