"""L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION, LOG_SOFTMAX, INSTANCE_NORMALIZATION."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.lowering.context import Step


def l2_normalization(step: Step) -> None:
    """L2_NORMALIZATION; LiteRT has only the last axis."""

    def apply(source: int) -> int:
        result = step.like_result()
        step.graph.emit("L2_NORMALIZATION", [source], result, "L2Norm", fusedActivationFunction=0)
        return result

    step.bind(step.along_last(step.scalar(1, -1), apply))


def local_response_normalization(step: Step) -> None:
    """LOCAL_RESPONSE_NORMALIZATION by its formula in single operations; the sums of squares are products with a band.

    LiteRT has the operation for the last axis of rank 4 only, and its reference kernel leaves out the last neighbour.
    """
    radius, bias, alpha, beta = (step.scalar(position) for position in range(1, 5))
    axis = step.scalar(5, -1)

    def apply(source: int) -> int:
        places = np.arange(step.dimensions(0)[axis])
        band = np.abs(places[:, None] - places) <= radius
        weights = step.graph.constant(np.float32(alpha) * band.astype(np.float32))
        sums, powers = step.like(source), step.like(source)
        squares = _binary(step, "MUL", source, source)
        step.graph.emit("FULLY_CONNECTED", [squares, weights, -1], sums, "FullyConnected", keepNumDims=True)
        exponent = _scalar(step, -beta)
        step.graph.emit("POW", [_binary(step, "ADD", sums, _scalar(step, bias)), exponent], powers, "Pow")
        return _binary(step, "MUL", source, powers)

    step.bind(step.along_last(axis, apply))


def log_softmax(step: Step) -> None:
    """LOG_SOFTMAX; LiteRT has only the last axis, and no beta: it is multiplied in front, which is the same."""
    beta = _scalar(step, step.scalar(1))

    def apply(source: int) -> int:
        scaled, result = step.like(source), step.like_result()
        step.graph.emit("MUL", [source, beta], scaled, "Mul", fusedActivationFunction=0)
        step.graph.emit("LOG_SOFTMAX", [scaled], result, "LogSoftmax")
        return result

    step.bind(step.along_last(step.scalar(2), apply))


def instance_normalization(step: Step) -> None:
    """INSTANCE_NORMALIZATION, which LiteRT does not have, by its formula in single operations."""
    source, image = step.tensor(0), step.integers([2, 3] if step.scalar(4) else [1, 2])
    gamma, beta, epsilon = (_scalar(step, step.scalar(position)) for position in (1, 2, 3))
    centred = _binary(step, "SUB", source, _mean(step, source, image))
    variance = _mean(step, _binary(step, "MUL", centred, centred), image)
    inverse = step.like(source)
    step.graph.emit("RSQRT", [_binary(step, "ADD", variance, epsilon)], inverse)
    scaled = _binary(step, "MUL", _binary(step, "MUL", centred, inverse), gamma)
    step.bind(_binary(step, "ADD", scaled, beta))


def _scalar(step: Step, value: float) -> int:
    return step.graph.constant(np.array(value, np.float32))


def _mean(step: Step, source: int, axes: int) -> int:
    result = step.like(source)
    step.graph.emit("MEAN", [source, axes], result, "Reducer", keepDims=True)
    return result


def _binary(step: Step, builtin: str, first: int, second: int) -> int:
    result = step.like(first)
    step.graph.emit(builtin, [first, second], result, builtin.capitalize(), fusedActivationFunction=0)
    return result
