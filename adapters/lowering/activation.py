"""RELU, RELU1, RELU6, LOGISTIC, TANH, ELU, HARD_SWISH, SOFTMAX."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.graph import Tensor
from npu_conformance.adapters.lowering.operands import LoweringError


def relu(step: Step) -> None:
    """RELU: values not less than 0."""
    step.graph.emit("RELU", [step.tensor(0)], step.output())


def relu1(step: Step) -> None:
    """RELU1: values between -1 and 1."""
    step.graph.emit("RELU_N1_TO_1", [step.tensor(0)], step.output())


def relu6(step: Step) -> None:
    """RELU6: values between 0 and 6."""
    step.graph.emit("RELU6", [step.tensor(0)], step.output())


def logistic(step: Step) -> None:
    """LOGISTIC."""
    step.graph.emit("LOGISTIC", [step.tensor(0)], step.output())


def tanh(step: Step) -> None:
    """TANH."""
    step.graph.emit("TANH", [step.tensor(0)], step.output())


def hard_swish(step: Step) -> None:
    """HARD_SWISH; the output has a quantisation of its own."""
    step.graph.emit("HARD_SWISH", [step.tensor(0)], step.output(), "HardSwish")


def elu(step: Step) -> None:
    """ELU, written out: LiteRT's own, which this version does not register, has no alpha.

    LiteRT's ADD makes the largest finite number of an infinity, so that it is used for an alpha below 0 only.
    """
    source, alpha = step.tensor(0), float(step.scalar(1))
    power, less, negative = (step.like(source) for _ in range(3))
    step.graph.emit("EXP", [source], power, "Exp")
    step.graph.emit("SUB", [power, step.floats([1.0])], less, "Sub")
    step.graph.emit("MUL", [less, step.floats([alpha])], negative, "Mul")
    if alpha >= 0:
        is_negative = step.graph.add(Tensor("bool"))
        step.graph.emit("LESS", [source, step.floats([0.0])], is_negative, "Less")
        step.graph.emit("SELECT", [is_negative, negative, source], step.output(), "Select")
        return
    low, high = step.like(source), step.like(source)
    step.graph.emit("MINIMUM", [negative, step.floats([0.0])], low, "MaximumMinimum")
    step.graph.emit("RELU", [source], high)
    step.graph.emit("ADD", [high, low], step.output(), "Add")


def softmax(step: Step) -> None:
    """SOFTMAX: LiteRT has only the last axis; another one is swapped with it before and after."""
    dimensions = step.dimensions(0)
    axis, beta = step.scalar(2, -1), float(step.scalar(1))
    if axis in range(-len(dimensions), len(dimensions)) and dimensions[axis] == 0:
        raise LoweringError("a softmax over no elements, which ends LiteRT's process")
    if not beta > 0:
        raise LoweringError(f"beta {beta} is not positive")

    def apply(source: int) -> int:
        result = step.like_result()
        step.graph.emit("SOFTMAX", [source], result, "Softmax", beta=beta)
        return result

    step.bind(step.along_last(axis, apply))
