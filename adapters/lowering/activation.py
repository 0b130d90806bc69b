"""RELU, RELU1, RELU6, LOGISTIC, TANH, SOFTMAX."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.graph import Tensor
from npu_conformance.adapters.lowering.operands import LoweringError, graph_dtype, quantization


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
    rank = len(dimensions)
    axis, beta = step.scalar(2, -1), float(step.scalar(1))
    if axis not in range(-rank, rank):
        raise LoweringError(f"axis {axis} of a tensor of rank {rank}")
    if dimensions[axis] == 0:
        raise LoweringError("a softmax over no elements, which ends LiteRT's process")
    if not beta > 0:
        raise LoweringError(f"beta {beta} is not positive")
    swap = list(range(rank))
    swap[axis], swap[-1] = swap[-1], swap[axis]
    is_last = swap == sorted(swap)
    source = step.tensor(0) if is_last else step.transposed(step.tensor(0), swap)
    result = step.graph.add(Tensor(graph_dtype(step.result()), (), quantization(step.result())))
    step.graph.emit("SOFTMAX", [source], result, "Softmax", beta=beta)
    step.bind(result if is_last else step.transposed(result, swap))
