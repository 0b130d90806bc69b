"""What a line of a collection of vectors (`.jsonl.gz`) holds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from npu_conformance.specs.documents.vectors import Kind


class Data(msgspec.Struct, frozen=True):
    """Elements of a tensor."""

    shape: tuple[int, ...]
    values: list[int] | None = None
    b64: str | None = None
    omitted: bool = False


class ChannelQuant(msgspec.Struct, frozen=True):
    """Scales along a dimension."""

    channel_dim: int
    scales: tuple[float, ...]


class HeaderOperand(msgspec.Struct, frozen=True):
    """What a header needs of an operand."""

    index: int
    name: str | None
    type: str
    dimensions: tuple[int, ...]
    lifetime: str
    omitted: bool = False


class Operand(HeaderOperand, frozen=True):
    """An operand with its quantisation and, where it is constant, its data."""

    scale: float = 0.0
    zero_point: int = 0
    channel_quant: ChannelQuant | None = None
    is_ignored: bool = False
    data: Data | None = None
    referenced_index: int | None = None


class Operation(msgspec.Struct, frozen=True):
    """An operation; operands by index."""

    type: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Graph(msgspec.Struct, frozen=True):
    """A model, or one that another refers to."""

    operands: tuple[Operand, ...]
    operations: tuple[Operation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class HeaderGraph(msgspec.Struct, frozen=True):
    """What a header needs of a graph."""

    operands: tuple[HeaderOperand, ...]
    operations: tuple[Operation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Example(msgspec.Struct, frozen=True):
    """Inputs and expected outputs by operand."""

    inputs: dict[int, Data]
    outputs: dict[int, Data]


class About(msgspec.Struct, frozen=True):
    """What a document says about itself, apart from its graphs."""

    name: str
    spec_file: str
    spec_dir: str
    hal_version: str
    test_kind: Kind
    is_relaxed: bool
    expect_failure: bool


class Document(About, frozen=True):
    """A line of a collection."""

    expected_multinomial_distribution_tolerance: Annotated[float, msgspec.Meta(ge=0, le=1)]
    subgraphs: tuple[Graph, ...]
    examples: tuple[Example, ...]


class HeaderDocument(About, frozen=True):
    """What a header needs of a line."""

    subgraphs: tuple[HeaderGraph, ...]
