"""Smaller models of a model: without operations and what only they used, then without single elements of its lists."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.inputs import UNREADABLE
from npu_conformance.fuzz.lib.json_edits import places
from npu_conformance.specs.neuralnetworks.types import Model, Operation, Subgraph
from npu_conformance.specs.wire_types import NonFinite


def pieces(data: bytes) -> Iterator[bytes]:
    """Smaller inputs; none where it is no JSON object, and only by elements where it is no model."""
    try:
        document = msgspec.json.decode(data)
    except UNREADABLE:
        return
    if not isinstance(document, dict):
        return
    with contextlib.suppress(*UNREADABLE):
        for model in _with_fewer_operations(msgspec.json.decode(data, type=Model)):
            yield msgspec.json.encode(model, enc_hook=_spelled)
    yield from _without_an_element(document)


def _spelled(value: Any) -> str:
    """A NaN or an infinity, as the scale of an operand may be."""
    assert isinstance(value, NonFinite)
    return value.spelling


def _with_fewer_operations(model: Model) -> Iterator[Model]:
    """Without half of the operations, a quarter, and so on, with operands that are left numbered anew."""
    operations = model.main.operations
    size = len(operations) // 2
    while size:
        for start in range(len(operations) - size, -1, -size):
            left = (*operations[:start], *operations[start + size :])
            yield replace(model, main=_only(model.main, left))
        size //= 2


def _only(graph: Subgraph, operations: tuple[Operation, ...]) -> Subgraph:
    """The graph with these operations and the operands that they use. Numbers of no operand stay what they are."""
    used = {index for part in operations for index in (*part.inputs, *part.outputs)}
    kept = [index for index in range(len(graph.operands)) if index in used]
    behind = len(graph.operands) - len(kept)
    numbers = {old: new for new, old in enumerate(kept)}

    def renumbered(indexes: tuple[int, ...], *, all_of_them: bool = True) -> tuple[int, ...]:
        last = len(graph.operands)
        return tuple(
            numbers.get(index, index - behind if index >= last else index)
            for index in indexes
            if all_of_them or index in used or not 0 <= index < last
        )

    return replace(
        graph,
        operands=tuple(graph.operands[index] for index in kept),
        operations=tuple(
            replace(part, inputs=renumbered(part.inputs), outputs=renumbered(part.outputs)) for part in operations
        ),
        input_indexes=renumbered(graph.input_indexes, all_of_them=False),
        output_indexes=renumbered(graph.output_indexes, all_of_them=False),
    )


def _without_an_element(document: dict[str, Any]) -> Iterator[bytes]:
    lists = [place for place in places(document) if isinstance(place.value, list)]
    for place in lists:
        whole = place.value
        for index in range(len(whole) - 1, -1, -1):
            place.put(whole[:index] + whole[index + 1 :])
            yield msgspec.json.encode(document)
        place.put(whole)
