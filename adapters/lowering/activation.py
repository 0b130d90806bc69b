"""RELU, RELU1, RELU6, LOGISTIC, TANH, SOFTMAX."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError


def relu(step: Step) -> None:
    """RELU: not less than 0."""
    step.graph.emit("RELU", [step.tensor(0)], step.output())


def relu1(step: Step) -> None:
    """RELU1: between -1 and 1."""
    step.graph.emit("RELU_N1_TO_1", [step.tensor(0)], step.output())


def relu6(step: Step) -> None:
    """RELU6: between 0 and 6."""
    step.graph.emit("RELU6", [step.tensor(0)], step.output())


def logistic(step: Step) -> None:
    """LOGISTIC."""
    step.graph.emit("LOGISTIC", [step.tensor(0)], step.output())


def tanh(step: Step) -> None:
    """TANH."""
    step.graph.emit("TANH", [step.tensor(0)], step.output())


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
