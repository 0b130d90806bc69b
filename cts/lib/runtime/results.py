"""What cases ask of an execution that is over."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge import checks

_SHAPE = ("execution_get_output_operand_rank", "execution_get_output_operand_dimensions")


def output_shape(app: RuntimeApp, execution: int, index: int, *, rank: int) -> tuple[int, ...]:
    """The dimensions of an output of an execution that succeeded. rank: what it has to be."""
    return output_shapes(app, execution, {index: rank})[index]


def output_shapes(app: RuntimeApp, execution: int, ranks: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """The dimensions of outputs of an execution that succeeded, by index. ranks: what they have to be."""
    calls = [
        (function, (execution, index, True))
        for index, rank in ranks.items()
        for function in (_SHAPE if rank else _SHAPE[:1])
    ]
    answers = iter(app.succeed_each(calls))
    found = {}
    for index, rank in ranks.items():
        checks.equal(next(answers).value, rank, f"rank of output {index}")
        found[index] = next(answers).values if rank else ()
    return found
