"""What generators of the RNN family share: activations of cells, and the tensors of one cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from npu_conformance.corpus.generators.base import Vectors, rejection, replaced
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.specs.documents.vectors import GeneratorDocument, Phase

KINDS = {"float32": FLOAT32, "float16": FLOAT16}
ACTIVATIONS = {"none": 0, "relu": 1, "relu6": 3, "tanh": 4, "sigmoid": 6}
"""Codes of recurrent cells (hazard recurrent-activation-codes)."""

MANY_STEPS = "the state of a step is that of the step before, however many there are"
"""What is told by a long sequence."""

NO_CODES = {"5": 5, "7": 7, "minus_1": -1}
"""Numbers that no cell has as activation, as they are spelled in names."""


@dataclass(frozen=True)
class Data:
    """Where elements come from. `bits`: floats that need all their bits; `large`: made from a seed at load.

    Other data is dyadic: products are multiples of 1/32, so that what is summed before the activation is exact.
    """

    kind: str = "float32"
    seed: int = 0
    bits: bool = False
    large: bool = False

    def elements(self, shape: Sequence[int], span: float, position: int) -> Sequence[float] | GeneratorDocument:
        """Elements in [-span, span]; position: makes the data of each operand another."""
        seed = 100 * self.seed + position
        if self.large:
            return GeneratorDocument(kind="dyadic", seed=seed, low=-0.5, high=0.5, step=0.5)
        if self.bits:
            return uniform(seed, shape, -span, span).ravel().tolist()
        return dyadic(seed, shape, -span, span, 0.125 if span > 1 else 0.25).ravel().tolist()

    def input(self, shape: Sequence[int], position: int, span: float = 2.0) -> OperandSpec:
        """A model input."""
        return tensor(KINDS[self.kind], shape, self.elements(shape, span, position))

    def weights(self, shape: Sequence[int], position: int, span: float = 1.0) -> OperandSpec:
        """A constant."""
        return constant(KINDS[self.kind], shape, self.elements(shape, span, position))

    def output(self, shape: Sequence[int]) -> OperandSpec:
        """An output."""
        return tensor(KINDS[self.kind], shape)


def cell(data: Data, size: int, units: int, position: int, prefix: str = "") -> Operands:
    """Weights, recurrent weights and bias of a cell."""
    return {
        f"{prefix}weights": data.weights((units, size), position),
        f"{prefix}recurrent_weights": data.weights((units, units), position + 1, 0.5),
        f"{prefix}bias": data.weights((units,), position + 2),
    }


def open_shape(spec: OperandSpec, dimensions: Sequence[int]) -> OperandSpec:
    """The same model input, of which the model leaves sizes (0) or the rank (none) open."""
    return tensor(spec.operand.type, dimensions, spec.data, shape=spec.shape)


def constant_like(spec: OperandSpec, shape: Sequence[int]) -> OperandSpec:
    """A constant in the place of another one that has this shape."""
    return constant(spec.operand.type, shape, dyadic(1, shape))


def rejections(
    operation: str, inputs: Operands, outputs: Operands, rows: Mapping[str, tuple[str, Operands]], since: str = "1.0"
) -> Vectors:
    """One rejection for each row: its clause and the operands that are put in the place of sound ones."""
    for name, (clause, changes) in rows.items():
        # Open sizes and ranks of operands are for versions since 1.2.
        is_open = any(not spec.operand.dimensions and spec.shape for spec in replaced(inputs, changes).values())
        phase: Phase = "model" if clause.startswith("MODEL.P3") and clause != "MODEL.P3R" else "execution"
        version = "1.2" if is_open else since
        yield rejection(operation, name, clause, inputs, outputs, version, changes=changes, phase=phase)


def wrong_activations(clause: str) -> dict[str, tuple[str, Operands]]:
    """Rows of rejections: codes that no cell has."""
    return {f"activation_{name}": (clause, {"activation": int32(code)}) for name, code in NO_CODES.items()}
