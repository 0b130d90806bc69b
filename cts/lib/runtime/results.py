"""What cases ask of an execution that is over, and the folders they give to compilations."""

from __future__ import annotations

import shutil
import tempfile
from typing import cast

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext


def output_shape(app: RuntimeApp, execution: int, index: int, *, rank: int) -> tuple[int, ...]:
    """The dimensions of an output of an execution that succeeded. rank: what it has to be."""
    found = app.succeed("execution_get_output_operand_rank", execution, index, True).value
    checks.equal(found, rank, f"rank of output {index}")
    if not rank:
        return ()
    answer = app.succeed("execution_get_output_operand_dimensions", execution, index, True)
    return cast("tuple[int, ...]", answer.values)


class _Folder:
    """A new folder, which is deleted with what is in it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="npu-conformance-cache-")

    def close(self) -> None:
        """Delete it."""
        shutil.rmtree(self.path, ignore_errors=True)


def cache_folder(context: CaseContext) -> str:
    """A new folder for the files of a cache, deleted when the case ends; its name ends with a slash."""
    folder = _Folder()
    context.close_later(folder)
    return f"{folder.path}/"
