"""MobileNet v1 1.0 224 with random weights: the reference's kernels against LiteRT's, one thread each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy

from benchmarks.figures import Figure
from npu_conformance.adapters.engine_executor import EngineExecutor
from npu_conformance.adapters.litert_engine import LiteRtEngine
from npu_conformance.corpus.vectors import ChannelQuant, Vector, VectorOperand, VectorOperation
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.reference.device.executor import UNLIMITED, Executor, Runnable
from npu_conformance.reference.device.tensors import Array
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

_SIZE, _CLASSES = 224, 1000
_WIDTHS = (32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
"""Channels between the blocks, and the stride of each block's depthwise convolution."""

_SAME, _RELU6 = 1, 3
_REPEATS = 7


def figures() -> Iterator[Figure]:
    """How many times as long as XNNPACK the reference takes, and how many times as long as it LiteRT's own takes."""
    # The number of threads of numpy's BLAS is settled when it is loaded: a process of its own asks for one.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.bench_networks"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    for name, seconds in json.loads(done.stdout).items():
        ours, slow, quick = (seconds[key] for key in ("reference", "LiteRT reference", "LiteRT xnnpack"))
        against = f"{ours * 1000:.0f} ms; XNNPACK {quick * 1000:.0f} ms, BUILTIN_REF {slow * 1000:.0f} ms"
        aims = (4.0, 10.0) if name == "float32" else (None, 1.0)
        yield Figure(f"MobileNet {name}: over XNNPACK", ours / quick, "x", against, aims[0])
        yield Figure("  BUILTIN_REF over it", slow / ours, "x", "", aims[1], at_least=True)


def measure() -> dict[str, dict[str, float]]:
    """Seconds of each engine, by type of the net."""
    found = {}
    for name, is_float in (("float32", True), ("int8", False)):
        model = build_model(_Network(is_float).vector(), Version.V1_3).model
        engines: dict[str, Runnable] = {"reference": Executor(model, Version.V1_3, ())}
        for kernels in ("reference", "xnnpack"):
            engines[f"LiteRT {kernels}"] = EngineExecutor(model, Version.V1_3, (), LiteRtEngine(kernels))
        found[name] = _race(engines, _image(is_float))
    return found


def _race(engines: dict[str, Runnable], image: Array) -> dict[str, float]:
    """The least seconds of some runs of each engine, taken in turns, so that a disturbance hits all alike."""
    best = dict.fromkeys(engines, float("inf"))
    for _ in range(_REPEATS):
        for name, engine in engines.items():
            started = time.perf_counter()
            engine.run([image], UNLIMITED)
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def _image(is_float: bool) -> Array:
    random = numpy.random.default_rng(7)
    shape = (1, _SIZE, _SIZE, 3)
    if is_float:
        return random.uniform(-1.0, 1.0, shape).astype(numpy.float32)
    return random.integers(-128, 127, shape, dtype=numpy.int8, endpoint=True)


class _Network:
    """Collects operands and operations of the net, layer by layer."""

    def __init__(self, is_float: bool) -> None:
        self._is_float = is_float
        self._random = numpy.random.default_rng(11)
        self._operands: dict[str, VectorOperand] = {}
        self._operations: list[VectorOperation] = []

    def vector(self) -> Vector:
        """The whole net as a vector without examples."""
        size = _SIZE // 2
        self._tensor("image", (1, _SIZE, _SIZE, 3))
        last = self._convolution("stem", "image", size, (_WIDTHS[0], 3, 3, 3), 2)
        for number, (channels, stride) in enumerate(zip(pairwise(_WIDTHS), _STRIDES, strict=True)):
            size //= stride
            last = self._depthwise(f"block{number}_depthwise", last, size, channels[0], stride)
            last = self._convolution(f"block{number}_pointwise", last, size, (channels[1], 1, 1, channels[0]), 1)
        self._pool("pooled", last, size)
        last = self._convolution("classes", "pooled", 1, (_CLASSES, 1, 1, _WIDTHS[-1]), 1)
        return Vector(
            "mobilenet", "CONV_2D", Version.V1_3, self._operands, tuple(self._operations), ("image",), (last,)
        )

    def _convolution(self, name: str, source: str, size: int, filters: tuple[int, ...], stride: int) -> str:
        self._tensor(name, (1, size, size, filters[0]))
        weights = self._weights(name, filters, 0)
        numbers = self._integers(name, _SAME, stride, stride, _RELU6)
        self._operations.append(VectorOperation("CONV_2D", (source, *weights, *numbers), (name,)))
        return name

    def _depthwise(self, name: str, source: str, size: int, channels: int, stride: int) -> str:
        self._tensor(name, (1, size, size, channels))
        weights = self._weights(name, (1, 3, 3, channels), 3)
        numbers = self._integers(name, _SAME, stride, stride, 1, _RELU6)
        self._operations.append(VectorOperation("DEPTHWISE_CONV_2D", (source, *weights, *numbers), (name,)))
        return name

    def _pool(self, name: str, source: str, size: int) -> None:
        self._tensor(name, (1, 1, 1, _WIDTHS[-1]))
        numbers = self._integers(name, 2, 1, 1, size, size, 0)
        self._operations.append(VectorOperation("AVERAGE_POOL_2D", (source, *numbers), (name,)))

    def _tensor(self, name: str, shape: tuple[int, ...]) -> None:
        if self._is_float:
            self._operands[name] = VectorOperand(OperandType.TENSOR_FLOAT32, shape)
        else:
            kind = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
            self._operands[name] = VectorOperand(kind, shape, scale=1 / 32, zero_point=-128)

    def _weights(self, name: str, shape: tuple[int, ...], channel_dim: int) -> tuple[str, str]:
        channels, spread = shape[channel_dim], (numpy.prod(shape) / shape[channel_dim]) ** -0.5
        if self._is_float:
            values = (self._random.standard_normal(shape) * spread).astype(numpy.float32)
            weights = VectorOperand(OperandType.TENSOR_FLOAT32, shape, value=values)
            bias = VectorOperand(
                OperandType.TENSOR_FLOAT32, (channels,), value=numpy.full(channels, 0.1, numpy.float32)
            )
        else:
            stored = self._random.integers(-127, 127, shape, dtype=numpy.int8, endpoint=True)
            quant = ChannelQuant((float(numpy.float32(spread / 64)),) * channels, channel_dim)
            kind = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
            weights = VectorOperand(kind, shape, channel_quant=quant, value=stored)
            bias = VectorOperand(OperandType.TENSOR_INT32, (channels,), value=numpy.full(channels, 100, numpy.int32))
        self._operands |= {f"{name}_weights": weights, f"{name}_bias": bias}
        return f"{name}_weights", f"{name}_bias"

    def _integers(self, name: str, *values: int) -> Sequence[str]:
        names = [f"{name}_{position}" for position in range(len(values))]
        for key, value in zip(names, values, strict=True):
            self._operands[key] = VectorOperand(OperandType.INT32, value=numpy.array(value, numpy.int32))
        return names


if __name__ == "__main__":
    print(json.dumps(measure()))
