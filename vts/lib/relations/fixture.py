"""Where a relation is tried: seeded data, execution on the device under test, and comparison of what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.vectors import Graph, Vector, VectorOperand
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import outside
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.tolerance import BOOLS, Circumstances, Tolerance, floor
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.relations.nets import BOOL8, FLOAT16, INT32, Net, Tensor, like

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_SECOND_ORDER = 1.01
"""Legal results lie around the exact one, not around each other: their relative bounds refer to other magnitudes."""


class RelationFixture:
    """One relation in one type on one device. Data follow from the context's seed."""

    def __init__(self, context: CaseContext, operand_type: OperandType) -> None:
        import numpy

        self.context = context
        self.operand_type = operand_type
        self._random = numpy.random.default_rng(context.seed)

    def net(self, referenced: Sequence[Graph] = ()) -> Net:
        """A model to be built."""
        return Net(self.operand_type, self.context.version, referenced)

    def tensor(
        self, *shape: int, operand_type: AnyOperandType | None = None, low: float = -2.0, high: float = 2.0
    ) -> Tensor:
        """Random elements: floats in [low, high) that need all their bits, quantised ones that use the whole range."""
        import numpy

        operand = replace(like(operand_type or self.operand_type), dimensions=shape)
        if operand.scale:
            info = numpy.iinfo(_dtype(operand))
            elements: Array = self._random.integers(info.min, info.max, shape, endpoint=True)
        elif operand.type is BOOL8:
            elements = self._random.integers(0, 2, shape)
        elif operand.type is INT32:
            elements = self._random.integers(-1000, 1001, shape)
        else:
            elements = self._random.uniform(low, high, shape)
        return Tensor(operand, elements.astype(_dtype(operand)))

    def steps(self, *shape: int, step: float = 1.0) -> Tensor:
        """Floats that are multiples of `step` in [-1, 1], so that sums of some hundred products are exact even in
        float16, and no order of summation is better than another one. Other types: as `tensor`."""
        operand = replace(like(self.operand_type), dimensions=shape)
        if operand.scale:
            return self.tensor(*shape)
        count = round(1 / step)
        elements = self._random.integers(-count, count, shape, endpoint=True) * step
        return Tensor(operand, elements.astype(_dtype(operand)))

    def distinct(self, *shape: int) -> Tensor:
        """Elements that differ along the last axis, by at least an eighth where they are floats."""
        import numpy

        operand = replace(like(self.operand_type), dimensions=shape)
        steps = self._random.permuted(numpy.broadcast_to(numpy.arange(shape[-1]), shape), axis=-1)
        elements = steps + numpy.iinfo(_dtype(operand)).min if operand.scale else (steps - shape[-1] // 2) / 8
        if operand.type is INT32:
            elements = steps - shape[-1] // 2
        return Tensor(operand, elements.astype(_dtype(operand)))

    def full(self, value: float, *shape: int) -> Tensor:
        """One number everywhere: a real value, or the stored one of an integer type."""
        import numpy

        operand = replace(like(self.operand_type), dimensions=shape)
        stored = round(value / operand.scale) + operand.zero_point if operand.scale else value
        return Tensor(operand, numpy.full(shape, stored, _dtype(operand)))

    def integers(self, *shape: int, low: int, high: int) -> Tensor:
        """TENSOR_INT32 in [low, high]."""
        elements = self._random.integers(low, high, shape, endpoint=True)
        return Tensor(VectorOperand(INT32, shape), elements.astype("int32"))

    def run(self, net: Net, *outputs: str) -> list[Array]:
        """Execute a model on the device under test; returns the stored elements of its outputs."""
        return self.execute(net.vector(*outputs))

    def execute(self, vector: Vector, *, unspecified: bool = False) -> list[Array]:
        """Execute a vector's example; returns the stored elements of its outputs. unspecified: let the device find out
        their shapes. NotSupported, NotApplicable where the device or its version has not all operations."""
        context = self.context
        if vector.since > context.version:
            raise NotApplicable(f"the model needs HAL {vector.since}")
        prepared_model = prepared(context, vector, unspecified=unspecified)
        built = build_request(vector, vector.examples[0], context.version)
        request, outputs = in_pools(context, built)
        outputs.write(0, bytes([FILL]) * built.output_size)
        execution = execute(context, prepared_model, request, measure=False)
        if unspecified and execution.status == ErrorStatus.GENERAL_FAILURE:
            raise NotSupported("the device does not execute with unspecified outputs")
        with checks.about("NNHAL-EXECUTE-001", *context.case.requirements[:1]):
            checks.status(execution.status, {ErrorStatus.NONE}, "execution")
        if unspecified:
            found = [shape.dimensions for shape in execution.output_shapes]
            with checks.about("NNHAL-SHAPE-002"):
                checks.equal(found, [vector.operands[name].dimensions for name in vector.outputs], "output shapes")
        content = outputs.read(0, built.output_size)
        return [built.read(name, content, vector.operands[name].dimensions) for name in vector.outputs]

    def agree(
        self,
        what: str,
        results: Sequence[Array],
        *,
        roundings: float,
        operand_type: AnyOperandType | None = None,
        magnitude: float = 0.0,
        half: bool = False,
    ) -> None:
        """Fail unless both results are what legal devices may compute for the same exact values.

        roundings: how often the public tolerance may be used up on the way to both results together, later operations'
        amplification included. magnitude: of the largest intermediate value, where the results are smaller.
        half: whether float32 may be computed as float16.
        """
        import numpy

        operand_type = self.operand_type if operand_type is None else operand_type
        one, other = map(_truths, results) if operand_type in BOOLS else results
        checks.equal(one.shape, other.shape, f"{what}: shapes")
        rule = floor(operand_type, Circumstances(relaxed=half, any_float16=self.operand_type is FLOAT16)).judged
        rtol = rule.rtol * roundings * _SECOND_ORDER
        tolerance = Tolerance(roundings * rule.atol + rtol * magnitude, rtol)
        apart = outside(one, other, tolerance)
        if apart.any():
            first = tuple(int(index) for index in numpy.argwhere(apart)[0])
            count = f"{int(apart.sum())} of {one.size} elements differ by more than {tolerance}"
            checks.fail(f"{what}: {count}; element {list(first)}", f"{other[first]:.9g}", f"{one[first]:.9g}")


def _truths(stored: Array) -> Array:
    """What the booleans mean: any value but 0 is true."""
    truths: Array = (stored != 0).astype(stored.dtype)
    return truths


def _dtype(operand: VectorOperand) -> str:
    from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

    return OPERAND_TYPES[operand.type].dtype
