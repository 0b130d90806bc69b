"""What generators of operations along one axis share: axes from either end, open dimensions, axes that do not exist."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType

Shape = tuple[int, ...]
SHAPES: dict[int, Shape] = {1: (5,), 2: (2, 3), 3: (3, 2, 4), 4: (2, 3, 2, 4)}
"""One of each rank."""

AXES = [(4, axis) for axis in range(-4, 4)] + [(1, 0), (1, -1), (2, 0), (3, -3), (3, 2), (3, 1)]
"""Ranks with an axis: each of rank 4, and others, from either end."""


def real_scalar(kind: AnyOperandType, value: float) -> OperandSpec:
    """A constant scalar of the type that goes with tensors of a type: FLOAT16, else FLOAT32."""
    return scalar(OperandType.FLOAT16 if kind is FLOAT16 else OperandType.FLOAT32, value)


@dataclass(frozen=True)
class Along:
    """An operation along an axis that is its last input.

    source: an input of a type and shape, by seed. middle: inputs between it and the axis, for a type.
    output: the output for a type and (declared) dimensions.
    """

    operation: str
    source: Callable[[OperandType, Shape, int], OperandSpec]
    middle: Callable[[OperandType], Operands]
    output: Callable[[OperandType, Shape], OperandSpec]

    def vector(
        self,
        name: str,
        kind: OperandType,
        source: OperandSpec,
        axis: int | None,
        about: str = "",
        excluded: Sequence[str] = (),
    ) -> Vector:
        """A vector with the axis (since 1.2), or where it is None with the axis left off the end."""
        inputs = {"input": source, **self.middle(kind), **({} if axis is None else {"axis": int32(axis)})}
        output = {"output": self.output(kind, source.shape)}
        is_old = axis is None and len(source.shape) == 4
        since = "1.0" if is_old else "1.2"
        return positive(name, self.operation, inputs, output, since=since, description=about, excluded=excluded)

    def axes(self, kinds: tuple[OperandType, ...]) -> Vectors:
        """Every axis of rank 4 from either end, and axes of other ranks; the types in turn."""
        for seed, (rank, axis) in enumerate(AXES):
            kind = kinds[seed % len(kinds)]
            source = self.source(kind, SHAPES[rank], seed + 30)
            spelled = f"minus_{-axis}" if axis < 0 else str(axis)
            yield self.vector(f"{SHORT[kind]}_rank{rank}_axis_{spelled}", kind, source, axis)
        for seed, kind in enumerate(kinds):
            about = "no size tells one axis from another"
            yield self.vector(f"{SHORT[kind]}_cube_axis_1", kind, self.source(kind, (3, 3, 3), seed + 90), 1, about)

    def open(self) -> Vectors:
        """Sizes or rank that only the request tells, and an axis that it brings."""
        data = self.source(FLOAT32, (3, 2, 4), 80).data
        given = {"input": tensor(FLOAT32, (3, 2, 4), data), **self.middle(FLOAT32)}
        for name, declared, output in (("rank", (), ()), ("sizes", (0, 2, 0), (0, 0, 4))):
            yield positive(
                f"float32_unknown_{name}",
                self.operation,
                {**given, "input": tensor(FLOAT32, declared, data, shape=(3, 2, 4)), "axis": int32(1)},
                {"output": self.output(FLOAT32, output)},
                since="1.2",
            )
        yield positive(
            "float32_axis_of_the_request",
            self.operation,
            {**given, "axis": tensor(OperandType.INT32, (), [-2])},
            {"output": self.output(FLOAT32, (3, 2, 4))},
            since="1.2",
            description="the axis is a model input",
        )

    def rejections(self, axis_clause: str, output_clause: str) -> Vectors:
        """Axes that do not exist, and outputs declared otherwise than the input. The numbers of the clauses."""
        for name, axis in (("too_large", 2), ("too_small", -3)):
            yield self._rejected(f"axis_{name}", (2, 3), (2, 3), axis_clause, axis)
        for name, declared in (("transposed", (3, 2)), ("of_higher_rank", (1, 2, 3)), ("too_small", (2, 2))):
            yield self._rejected(f"output_declared_{name}", (2, 3), declared, output_clause, 1)

    def rejected_ranks(self, ranks: str, old_ranks: str) -> Vectors:
        """Rank 5, and before 1.2 any but 4. The numbers of the clauses."""
        extra = self.middle(FLOAT32)
        yield from _rejections.ranks_of(self.operation, FLOAT32, FLOAT32, f"{self.operation}.{ranks}", extra)
        for rank in (1, 2, 3):
            yield rejected(
                f"rank{rank}_until_1_1",
                self.operation,
                {"input": self.source(FLOAT32, SHAPES[rank], 1), **extra},
                {"output": self.output(FLOAT32, SHAPES[rank])},
                clause=f"{self.operation}.{old_ranks}",
                until="1.1",
            )

    def _rejected(self, name: str, shape: Shape, declared: Shape, clause: str, axis: int) -> Vector:
        return rejected(
            name,
            self.operation,
            {"input": self.source(FLOAT32, shape, 1), **self.middle(FLOAT32), "axis": int32(axis)},
            {"output": self.output(FLOAT32, declared)},
            clause=f"{self.operation}.{clause}",
        )
