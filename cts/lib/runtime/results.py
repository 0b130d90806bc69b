"""What cases ask of an execution that is over."""

from __future__ import annotations

from typing import cast

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks


def output_shape(app: RuntimeApp, execution: int, index: int, *, rank: int) -> tuple[int, ...]:
    """The dimensions of an output of an execution that succeeded. rank: what it has to be."""
    found = app.succeed("execution_get_output_operand_rank", execution, index, True).value
    checks.equal(found, rank, f"rank of output {index}")
    if not rank:
        return ()
    answer = app.succeed("execution_get_output_operand_dimensions", execution, index, True)
    return cast("tuple[int, ...]", answer.values)
