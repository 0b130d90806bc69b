"""What cases ask of an execution that is over."""

from __future__ import annotations

from typing import cast

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks

_SHAPE = ("execution_get_output_operand_rank", "execution_get_output_operand_dimensions")


def output_shape(app: RuntimeApp, execution: int, index: int, *, rank: int) -> tuple[int, ...]:
    """The dimensions of an output of an execution that succeeded. rank: what it has to be."""
    functions = _SHAPE if rank else _SHAPE[:1]
    found, *dimensions = app.succeed_each((function, (execution, index, True)) for function in functions)
    checks.equal(found.value, rank, f"rank of output {index}")
    return cast("tuple[int, ...]", dimensions[0].values) if dimensions else ()
