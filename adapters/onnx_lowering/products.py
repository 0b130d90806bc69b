"""FULLY_CONNECTED, BATCH_MATMUL, normalisations and SOFTMAX."""

from __future__ import annotations

import math

import numpy as np

from npu_conformance.adapters.lowering.shape import wrapped_axes
from npu_conformance.adapters.lowering.window import TO_NCHW, TO_NHWC
from npu_conformance.adapters.onnx_lowering.context import Step


def fully_connected(step: Step) -> None:
    """FULLY_CONNECTED: an input of higher rank becomes [batch, input size]."""
    source = step.reshaped(step.real(0), [-1, step.dimensions(1)[1]])
    result = step.emit("Gemm", source, step.real(1), step.real(2), transB=1)
    step.store(step.activated(result, step.activation(3)))


def batch_matmul(step: Step) -> None:
    """BATCH_MATMUL."""
    step.store(step.emit("MatMul", *(_turned(step, position, step.scalar(2 + position)) for position in (0, 1))))


def softmax(step: Step) -> None:
    """SOFTMAX; ONNX has no beta: it is multiplied in front, which is the same."""
    scaled = step.emit("Mul", step.real(0), step.number(step.scalar(1)))
    step.store(step.emit("Softmax", scaled, axis=step.scalar(2, -1)))


def log_softmax(step: Step) -> None:
    """LOG_SOFTMAX, as SOFTMAX."""
    scaled = step.emit("Mul", step.real(0), step.number(step.scalar(1)))
    step.store(step.emit("LogSoftmax", scaled, axis=step.scalar(2)))


def l2_normalization(step: Step) -> None:
    """L2_NORMALIZATION."""
    step.store(step.emit("LpNormalization", step.real(0), axis=step.scalar(1, -1), p=2))


def local_response_normalization(step: Step) -> None:
    """LOCAL_RESPONSE_NORMALIZATION by its formula; the sums of squares are products with a band.

    ONNX has LRN, but the evaluator's sums reach as many channels as there are batches only.
    """
    dimensions, radius = step.dimensions(0), step.scalar(1)
    (axis,) = wrapped_axes([step.scalar(5, -1)], len(dimensions))
    bias, alpha, beta = (step.number(step.scalar(position)) for position in (2, 3, 4))
    places = np.arange(dimensions[axis])
    band = (np.abs(places[:, None] - places) <= radius).astype(np.float32)
    source = step.reshaped(step.real(0), [math.prod(dimensions[:axis]), len(places), math.prod(dimensions[axis + 1 :])])
    sums = step.emit("MatMul", step.graph.constant(band), step.emit("Mul", source, source))
    divisor = step.emit("Pow", step.emit("Add", step.emit("Mul", sums, alpha), bias), beta)
    step.store(step.reshaped(step.emit("Div", source, divisor), dimensions))


def instance_normalization(step: Step) -> None:
    """INSTANCE_NORMALIZATION; ONNX has gamma and beta for each channel."""
    is_nchw = bool(step.scalar(4))
    channels = step.dimensions(0)[1 if is_nchw else 3]
    gamma, beta = (step.graph.constant(np.full(channels, step.scalar(position), np.float32)) for position in (1, 2))
    source = step.real(0) if is_nchw else step.transposed(step.real(0), TO_NCHW)
    result = step.emit("InstanceNormalization", source, gamma, beta, epsilon=float(step.scalar(3)))
    step.store(result if is_nchw else step.transposed(result, TO_NHWC))


def _turned(step: Step, position: int, turned: bool) -> str:
    """Return an input as the product reads it."""
    rank, name = len(step.dimensions(position)), step.real(position)
    return step.transposed(name, [*range(rank - 2), rank - 1, rank - 2]) if turned else name
