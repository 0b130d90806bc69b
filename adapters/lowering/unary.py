"""ABS, NEG, EXP, LOG, SIN, SQRT, RSQRT, FLOOR: functions of each element."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.graph import Quantization, Tensor
from npu_conformance.adapters.lowering.operands import quantization


def abs_(step: Step) -> None:
    """ABS."""
    step.graph.emit("ABS", [step.tensor(0)], step.output(), "Abs")


def neg(step: Step) -> None:
    """NEG."""
    step.graph.emit("NEG", [step.tensor(0)], step.output(), "Neg")


def exp(step: Step) -> None:
    """EXP."""
    step.graph.emit("EXP", [step.tensor(0)], step.output(), "Exp")


def log(step: Step) -> None:
    """LOG."""
    step.graph.emit("LOG", [step.tensor(0)], step.output())


def sin(step: Step) -> None:
    """SIN."""
    step.graph.emit("SIN", [step.tensor(0)], step.output())


def sqrt(step: Step) -> None:
    """SQRT."""
    step.graph.emit("SQRT", [step.tensor(0)], step.output())


def floor(step: Step) -> None:
    """FLOOR."""
    step.graph.emit("FLOOR", [step.tensor(0)], step.output())


def rsqrt(step: Step) -> None:
    """RSQRT; of bytes LiteRT has the signed form only, so that others are shifted by 128 before and after: exact."""
    source, target = step.tensor(0), quantization(step.result())
    given = step.graph.tensors[source]
    if given.dtype != "uint8" or given.quantization is None or target is None:
        step.graph.emit("RSQRT", [source], step.output())
        return
    shifted = step.requantized(source, _signed(given.quantization), "int8")
    result = step.graph.add(Tensor("int8", (), _signed(target)))
    step.graph.emit("RSQRT", [shifted], result)
    step.bind(step.requantized(result, target, "uint8"))


def _signed(unsigned: Quantization) -> Quantization:
    return Quantization(unsigned.scales, tuple(point - 128 for point in unsigned.zero_points))
