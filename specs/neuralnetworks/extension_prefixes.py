"""Translates the prefixes of a model into the catalogue's numbers of registered extensions."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks import registered_extensions
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, EXTENSION_TYPE_LOW_BITS
from npu_conformance.specs.neuralnetworks.extension_codes import registered_code
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph


def numbers_of(model: Model) -> dict[int, int]:
    """The number of each registered extension that a model maps, by its prefix; empty for nearly every model.

    Prefix 0 is no extension's, even where a model says so: the standard's own codes have it.
    """
    mapped = model.extension_name_to_prefix
    found = ((mapping.prefix, registered_extensions.find(mapping.name)) for mapping in mapped if mapping.prefix)
    return {prefix: extension.number for prefix, extension in found if extension is not None}


def registered_code_of(code: int, numbers: Mapping[int, int]) -> int:
    """The number in the catalogue of a model's code; any other code as it is. numbers: `numbers_of` the model."""
    prefix = code >> EXTENSION_TYPE_LOW_BITS
    return registered_code(numbers[prefix], code & BASE_TYPE_MAX) if prefix in numbers else code


def with_registered_codes(model: Model) -> Model:
    """The model with the catalogue's numbers for registered extensions; the same object where there are none.

    The model must be valid: one that holds such numbers itself is not.
    """
    numbers = numbers_of(model)
    if not numbers:
        return model
    main, *referenced = (_graph(graph, numbers) for graph in (model.main, *model.referenced))
    return replace(model, main=main, referenced=tuple(referenced))


def _graph(graph: Subgraph, numbers: Mapping[int, int]) -> Subgraph:
    operands: list[Operand] = [replace(one, type=registered_code_of(one.type, numbers)) for one in graph.operands]
    operations: list[Operation] = [replace(one, type=registered_code_of(one.type, numbers)) for one in graph.operations]
    return replace(graph, operands=tuple(operands), operations=tuple(operations))
