"""What a driver tells of durations, beside what its caller sees: a long chain and a short one, by turns.

Times of one model alone say little: its driver may be a small part of what the caller waits for, and a simulator may
tell how long the simulated device would take, which is the same each time. What has to fit is the difference that more
work makes.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector
    from npu_conformance.mlts.lib.loaded_model import Inference

cases = CaseGroup("mlts.told_times.models", group=Group.EXECUTION)
_INPUT = "x"
_ROWS, _SHORT, _LONG = 256, 1, 48
"""Rows and columns of each sum, and how many sums come one after the other."""
_TURNS, _LOOKS = 7, 3
_NOTICEABLE = 0.002
"""Seconds that the long chain has to take longer, to say anything."""
_LEAST, _MOST = 0.2, 2.0
"""The part of what the caller sees that a driver may tell: the rest is on the way to it, which both chains have."""


@dataclass(frozen=True)
class Turn:
    """By how many seconds the long chain took longer: as the driver told it, and as the caller saw it."""

    told: float
    seen: float


@cases.case("in_turn", "NNHAL-TIMING-005", "NNHAL-TIMING-006", "NNHAL-TIMING-004", since=Version.V1_2)
def in_turn(context: CaseContext) -> None:
    """A driver's times of a long and of a short chain of sums differ by about as much as the caller's."""
    from npu_conformance.mlts.lib.loaded_model import LoadedModel
    from npu_conformance.mlts.lib.told import warn_or_fail

    short, long = (LoadedModel(context, _chain(count)) for count in (_SHORT, _LONG))
    for model in (short, long):
        model.infer(_ones())
    found: list[Turn] = []
    for _ in range(_LOOKS):
        turns = (_turn(short.infer(_ones()), long.infer(_ones())) for _ in range(_TURNS))
        found = [turn for turn in turns if turn is not None]
        if not found or fits(found):
            return
    told, seen = (1000 * statistics.median(getattr(turn, name) for turn in found) for name in ("told", "seen"))
    warn_or_fail(
        context,
        f"timeInDriver of {_LONG} sums is {told:.3g} ms more than that of {_SHORT}, and the caller waited "
        f"{seen:.3g} ms more",
    )


def fits(turns: list[Turn]) -> bool:
    """True where what was told agrees with what was seen, or too little was seen to say."""
    if statistics.median(turn.seen for turn in turns) < _NOTICEABLE:
        return True
    return _LEAST <= statistics.median(turn.told / turn.seen for turn in turns if turn.seen > 0) <= _MOST


def _turn(short: Inference, long: Inference) -> Turn | None:
    """One inference of each; None where the driver tells no times."""
    if short.in_driver is None or long.in_driver is None:
        return None
    return Turn(long.in_driver - short.in_driver, long.seconds - short.seconds)


def _chain(count: int) -> Vector:
    """A chain of so many sums: each adds the input to the sum before it."""
    import numpy

    from npu_conformance.corpus.model_builder import ModelBuilder
    from npu_conformance.corpus.vectors import VectorOperand
    from npu_conformance.specs.neuralnetworks.enums import OperandType

    builder = ModelBuilder(Version.V1_0)
    tensor = VectorOperand(OperandType.TENSOR_FLOAT32, (_ROWS, _ROWS))
    given = last = builder.input(tensor, name=_INPUT)
    none = builder.constant(VectorOperand(OperandType.INT32), numpy.array(0, numpy.int32))
    for _ in range(count):
        (last,) = builder.apply("ADD", (last, given, none), (VectorOperand(OperandType.TENSOR_FLOAT32),))
    return builder.vector(f"chain_of_{count}", "ADD", (last,))


def _ones() -> dict[str, Array]:
    import numpy

    return {_INPUT: numpy.ones((_ROWS, _ROWS), numpy.float32)}
