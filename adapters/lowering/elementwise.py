"""ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, quantization
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType

INTEGER = OperandType.TENSOR_INT32


def add(step: Step) -> None:
    """ADD with a fused activation and broadcasting."""
    _arithmetic(step, "ADD", "Add")


def sub(step: Step) -> None:
    """SUB with a fused activation and broadcasting."""
    _arithmetic(step, "SUB", "Sub")


def mul(step: Step) -> None:
    """MUL with a fused activation and broadcasting."""
    _arithmetic(step, "MUL", "Mul")


def div(step: Step) -> None:
    """DIV of floats; of integers FLOOR_DIV, since NNAPI rounds the quotient down and LiteRT's DIV towards zero."""
    if not step.is_type(0, INTEGER):
        _arithmetic(step, "DIV", "Div")
        return
    # INT_MIN / -1 kills the process, a zero fails the run: only divisors known to be neither are taken.
    if {0, -1} & set(step.value(1).reshape(-1).tolist()):
        raise LoweringError("a divisor is 0 or -1")
    step.graph.emit("FLOOR_DIV", [step.tensor(0), step.tensor(1)], step.output(), "FloorDiv")


def maximum(step: Step) -> None:
    """MAXIMUM: the operands are brought to the output's quantisation first, since LiteRT compares stored values."""
    _extremum(step, "MAXIMUM")


def minimum(step: Step) -> None:
    """MINIMUM, as MAXIMUM."""
    _extremum(step, "MINIMUM")


def _arithmetic(step: Step, builtin: str, options: str) -> None:
    activation = step.activation(2)
    if step.is_type(0, INTEGER) and step.scalar(2) != FusedActivation.NONE:
        raise LoweringError("an activation fused to integer arithmetic")
    step.graph.emit(
        builtin, [step.tensor(0), step.tensor(1)], step.output(), options, fusedActivationFunction=activation
    )


def _extremum(step: Step, builtin: str) -> None:
    target = quantization(step.result())
    operands = [step.requantized(step.tensor(position), target) for position in (0, 1)]
    step.graph.emit(builtin, operands, step.output(), "MaximumMinimum")
