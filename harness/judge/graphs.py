"""Judges what a device computed for a random graph.

An element is right within the public tolerance of its type (RGG-006, -008), float16 and large values included. Where
it is not, the graph is computed again while every operation errs as much as it may (`corpus.random_graphs.spreads`):
the element is right as well if it is no further off than that, and undecided where that is further than AOSP's widest
bound for graphs, as in a comparison of two values that are nearly equal. Of a boolean or an int32 that comes to
another value then nothing can be said either. NaN wants NaN and an infinity the same infinity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.random_graphs.accuracy import Bound, criterion, furthest
from npu_conformance.corpus.random_graphs.spreads import Spreads
from npu_conformance.harness.judge.compare import AospVerdict, outside
from npu_conformance.harness.judge.tolerance import BOOLS, Circumstances, Tolerance, floor
from npu_conformance.specs.neuralnetworks.enums import OperandType

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector

QUICKLY = (8,)
THOROUGHLY = (8, 16, 32, 64)
"""After so many runs in which operations err an element that is still further off is wrong. Quickly it is for a graph
that is tried while it shrinks, and judged thoroughly in the end."""
_LEAST_COMPARED = 10
"""Bias and mean square error count from so many elements on (RGG-007)."""
_SKIPPED_BEYOND = 100.0
"""AOSP's own test leaves out float32 elements beyond this, and float16 altogether (RGG-008)."""


@dataclass(frozen=True)
class Finding:
    """An output that is wrong. aosp_fails: whether AOSP's own test of random graphs would fail too.

    message: what is wrong; told: with what AOSP's test would say, for graphs such as it makes itself.
    """

    output: str
    message: str
    expected: str
    found: str
    aosp_fails: AospVerdict

    @property
    def told(self) -> str:
        """The message, with AOSP's verdict behind it."""
        return f"{self.message}; AOSP's own test would fail too: {self.aosp_fails}"


@dataclass
class Judgement:
    """What became of the elements of all outputs. widened: right only by what operations before may have made."""

    findings: list[Finding] = field(default_factory=list)
    elements: int = 0
    widened: int = 0
    undecided: int = 0


def judge(vector: Vector, outputs: Mapping[str, Array]) -> list[Finding]:
    """What is wrong about the outputs of a graph, by name; nothing where all is right."""
    return judgement(vector, outputs).findings


def judgement(vector: Vector, outputs: Mapping[str, Array], rounds: Sequence[int] = THOROUGHLY) -> Judgement:
    """Judge every output of a graph but those that it ignores."""
    found, spreads, circumstances = Judgement(), Spreads(vector), _circumstances(vector)
    for name in vector.outputs:
        if name not in vector.ignored:
            tolerance = floor(vector.operands[name].type, circumstances).judged
            _judge_output(vector, name, outputs[name], tolerance, spreads, rounds, found)
    return found


def decided(vector: Vector) -> tuple[int, int]:
    """How many elements of a graph's outputs are decided whatever a device computes, and how many there are."""
    spreads = Spreads(vector)
    spreads.run(QUICKLY[0])
    names = [name for name in vector.outputs if name not in vector.ignored]
    right = sum(int(_is_decided(vector, name, spreads).sum()) for name in names)
    return right, sum(vector.examples[0].outputs[name].size for name in names)


def _judge_output(
    vector: Vector,
    name: str,
    actual: Array,
    tolerance: Tolerance,
    spreads: Spreads,
    rounds: Sequence[int],
    found: Judgement,
) -> None:
    expected = vector.examples[0].outputs[name]
    found.elements += expected.size
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        message = f"expected {expected.dtype}{list(expected.shape)}, found {actual.dtype}{list(actual.shape)}"
        found.findings.append(Finding(name, message, str(expected.shape), str(actual.shape), "yes"))
        return
    bad = off = _outside(vector, name, actual, expected, tolerance)
    if not off.any():
        return
    for runs in rounds:
        if not bad.any():
            break
        spreads.run(runs)
        bad = off & _is_decided(vector, name, spreads) & _beyond(actual, expected, tolerance, spreads.spreads[name])
    undecided = int((off & ~_is_decided(vector, name, spreads)).sum())
    found.undecided += undecided
    found.widened += int(off.sum()) - undecided - int(bad.sum())
    if bad.any():
        found.findings.append(_finding(vector, name, actual, bad, tolerance, spreads))


def _circumstances(vector: Vector) -> Circumstances:
    types = {operand.type for graph in vector.graphs for operand in graph.operands.values()}
    return Circumstances(relaxed=vector.relaxed, any_float16=OperandType.TENSOR_FLOAT16 in types)


def _outside(vector: Vector, name: str, actual: Array, expected: Array, tolerance: Tolerance) -> Array:
    if vector.operands[name].type in BOOLS:
        return numpy.asarray((actual != 0) != (expected != 0))
    return outside(actual, expected, tolerance)


def _beyond(actual: Array, expected: Array, tolerance: Tolerance, spread: Array) -> Array:
    """Elements that are further off than their tolerance and their spread together."""
    wanted, found = expected.astype(numpy.float64), actual.astype(numpy.float64)
    with numpy.errstate(invalid="ignore", over="ignore"):
        near = numpy.abs(found - wanted) <= tolerance.atol + tolerance.rtol * numpy.abs(wanted) + spread
    mask: Array = ~near
    return mask


def _is_decided(vector: Vector, name: str, spreads: Spreads) -> Array:
    """Elements of which the spread says what is right. No spread at all is known of an element that nothing moved."""
    spread, expected = spreads.spreads[name], vector.examples[0].outputs[name]
    bound = furthest(vector).bound(vector.operands[name].type)
    if bound is None:
        return numpy.asarray(spread == 0)
    limit = _allowed(bound, expected.astype(numpy.float64))
    return numpy.asarray((spread <= limit) | ((spread == 0) & ~numpy.isfinite(limit)))


def _allowed(bound: Bound, expected: Array) -> Array:
    allowed: Array = bound.atol + bound.rtol * numpy.abs(expected)
    return allowed


def _finding(vector: Vector, name: str, actual: Array, bad: Array, tolerance: Tolerance, spreads: Spreads) -> Finding:
    expected = vector.examples[0].outputs[name]
    first = tuple(int(at) for at in numpy.argwhere(bad)[0])
    spread = float(spreads.spreads[name][first])
    message = (
        f"output '{name}': {int(bad.sum())} of {expected.size} elements outside {tolerance}; element {list(first)}: "
        f"expected {float(expected[first]):.9g}, actual {float(actual[first]):.9g}"
    )
    if spread:
        message += f", of which operations before may explain {spread:.4g}"
    return Finding(name, message, _shown(expected[bad]), _shown(actual[bad]), aosp_verdict(vector, name, actual))


def _shown(values: Array) -> str:
    return ", ".join(f"{float(value):.9g}" for value in values[:4]) + (", ..." if values.size > 4 else "")


def aosp_verdict(vector: Vector, name: str, actual: Array) -> AospVerdict:
    """Whether AOSP's own test would fail for an output."""
    expected, kind = vector.examples[0].outputs[name], vector.operands[name].type
    difference = numpy.abs(actual.astype(numpy.float64) - expected.astype(numpy.float64))
    if kind in BOOLS:
        return "yes" if int(((actual != 0) != (expected != 0)).sum()) > math.ceil(0.1 * expected.size) else "no"
    bound = criterion(vector).bound(kind)
    if bound is None:
        return "yes" if bool((difference > 1).any()) else "no"
    return "yes" if _aosp_fails(bound, actual.astype(numpy.float64), expected) else "no"


def _aosp_fails(bound: Bound, actual: Array, expected: Array) -> bool:
    if expected.dtype == numpy.float16:
        return False
    wanted = expected.astype(numpy.float64)
    is_float = expected.dtype.kind == "f"
    compared = numpy.abs(wanted) <= _SKIPPED_BEYOND if is_float else numpy.ones(wanted.shape, bool)
    difference = (actual - wanted)[compared]
    if bool((~(numpy.abs(difference) <= _allowed(bound, wanted[compared]))).any()):
        return True
    if difference.size < _LEAST_COMPARED:
        return False
    relative = difference / numpy.maximum(1.0, numpy.abs(wanted[compared])) if is_float else difference
    return bool(abs(relative.mean()) > bound.bias or (relative**2).mean() > bound.square)
