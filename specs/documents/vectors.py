"""Strict structs of the files in corpus/vectors/: what a vector looks like on disk."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from npu_conformance.specs.documents import Document

Number = int | float | Literal["NaN", "Infinity", "-Infinity"]
"""One element: an integer or a float that is exact in the operand's type; bool8 as 0 and 1 (or another byte: true)."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_]+$(?!\n)")]
Hexadecimal = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{2})*$(?!\n)")]
Phase = Literal["model", "execution"]
Kind = Literal["general", "validation", "multinomial", "infinite_loop_timeout"]


class GeneratorDocument(Document, frozen=True):
    """How to make the elements of a tensor of a realistic size from a seed.

    dyadic: multiples of `step` (a power of two) in [low, high], so that long sums are exact; uniform: floats in
    [low, high); integers: whole numbers in [low, high], for quantised and integer types.
    """

    kind: Literal["dyadic", "uniform", "integers"]
    seed: Annotated[int, msgspec.Meta(ge=0)]
    low: float = -1.0
    high: float = 1.0
    step: float = 0.125


class GeneratedDocument(Document, frozen=True):
    """Stands in the place of a list of elements."""

    generate: GeneratorDocument


Values = list[Number] | GeneratedDocument


class ChannelQuantDocument(Document, frozen=True):
    """Quantisation of TENSOR_QUANT8_SYMM_PER_CHANNEL."""

    scales: list[float]
    channel_dim: int


class OperandDocument(Document, frozen=True, omit_defaults=True):
    """One named operand. A value makes it a constant; omitted, one without value; subgraph, a reference to a graph.

    extension: parameters of an operand of a vendor's type (extraParams.extension), as hexadecimal digits of its bytes.
    """

    type: str
    dimensions: list[int] = msgspec.field(default_factory=list)
    scale: float = 0.0
    zero_point: int = 0
    channel_quant: ChannelQuantDocument | None = None
    value: Values | None = None
    omitted: bool = False
    subgraph: int | None = None
    extension: Hexadecimal | None = None


class OperationDocument(Document, frozen=True):
    """One operation over operands by name."""

    type: str
    inputs: list[str]
    outputs: list[str]


class GraphDocument(Document, frozen=True):
    """A graph that IF or WHILE refers to."""

    operands: dict[str, OperandDocument]
    operations: list[OperationDocument]
    inputs: list[str]
    outputs: list[str]


class ExampleDocument(Document, frozen=True, omit_defaults=True):
    """Values of the model's inputs and outputs. Outputs are left out where the oracle computes them at load.

    It does so for vectors with generated values, and for samples, which only their distribution has to fit.

    dimensions: the shapes of those that the model leaves open.
    """

    inputs: dict[str, Values]
    outputs: dict[str, list[Number]] = msgspec.field(default_factory=dict)
    dimensions: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)


class RejectedDocument(Document, frozen=True, omit_defaults=True):
    """The model, or its execution, must be refused because of this clause, up to version `until` (default: all)."""

    clause: str
    phase: Phase
    until: str = ""


class VectorDocument(Document, frozen=True, omit_defaults=True):
    """One vector. `operations` is left out where it is one operation over all operands in their order.

    kind: multinomial where the output holds samples of classes, of which the frequency of each class in each row may be
    off softmax of the logits by multinomial_tolerance. taken_by: who executes it although it is to be rejected.
    """

    name: Name
    since: str
    operands: dict[str, OperandDocument]
    inputs: list[str]
    outputs: list[str]
    description: str = ""
    traps: list[int] = msgspec.field(default_factory=list)
    requirements: list[str] = msgspec.field(default_factory=list)
    relaxed: bool = False
    kind: Kind = "general"
    multinomial_tolerance: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    operations: list[OperationDocument] = msgspec.field(default_factory=list)
    referenced: list[GraphDocument] = msgspec.field(default_factory=list)
    examples: list[ExampleDocument] = msgspec.field(default_factory=list)
    witnesses: list[str] = msgspec.field(default_factory=list)
    ignored: list[str] = msgspec.field(default_factory=list)
    excluded: list[str] = msgspec.field(default_factory=list)
    rejected: RejectedDocument | None = None
    taken_by: list[str] = msgspec.field(default_factory=list)


class VectorFile(Document, frozen=True):
    """All vectors of one operation."""

    operation: str
    vectors: list[VectorDocument]


class HeaderOperand(msgspec.Struct, frozen=True):
    """What listing needs of an operand: the rest of it is skipped without being decoded."""

    type: str
    dimensions: tuple[int, ...] = ()
    value: msgspec.Raw = msgspec.Raw()
    omitted: bool = False


class HeaderOperation(msgspec.Struct, frozen=True):
    """The type of one operation, and how many operands it takes."""

    type: str
    inputs: tuple[str, ...] = ()


class HeaderDocument(msgspec.Struct, frozen=True):
    """What listing needs of a vector."""

    name: str
    since: str
    operands: dict[str, HeaderOperand]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    description: str = ""
    traps: tuple[int, ...] = ()
    requirements: tuple[str, ...] = ()
    relaxed: bool = False
    operations: tuple[HeaderOperation, ...] = ()
    excluded: tuple[str, ...] = ()
    rejected: RejectedDocument | None = None
    taken_by: tuple[str, ...] = ()


class HeaderFile(msgspec.Struct, frozen=True):
    """All headers of one operation."""

    operation: str
    vectors: tuple[HeaderDocument, ...]
