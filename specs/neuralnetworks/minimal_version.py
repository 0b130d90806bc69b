"""The oldest HAL version in which a model is legal."""

from __future__ import annotations

import msgspec

from npu_conformance.specs.neuralnetworks import catalogue, rules
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, OperationType
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.operation_tables import Argument
from npu_conformance.specs.neuralnetworks.operation_view import constant_value, view_of
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version

# What HIDL and AIDL spell differently in one and the same model: consumer counts and kinds of memory.
_SPELLING = {"MODEL.G5", "MODEL.M3"}


def minimal_version(model: Model, *, with_extensions: bool = True) -> Version:
    """Return the first version whose rules the model keeps; raises ValueError naming the first broken rule if none.

    Counts structure, signatures and the rules of operations as far as the model shows values and shapes.
    with_extensions: false to leave the rules of operations of extensions to their driver.
    """
    for version in Version:
        if _fields_since(model) <= version and not _broken(model, version, with_extensions):
            return version
    raise ValueError(f"no version has this model: {_broken(model, version, with_extensions)[0]}")


def without_trailing_defaults(model: Model) -> Model:
    """The model as a framework sees it before it asks for the version: without trailing inputs that have their default.

    A constant layout of false, a dilation of 1, and the like; a HAL driver does not strip them (FW-PRT-014):
    the same list of operands is legal in framework tests on an old driver and illegal in HAL tests.
    """
    graphs = [_stripped(model, graph) for graph in (model.main, *model.referenced)]
    return msgspec.structs.replace(model, main=graphs[0], referenced=tuple(graphs[1:]))


def _stripped(model: Model, graph: Subgraph) -> Subgraph:
    """The graph without those inputs, and without operands that nothing uses any more."""
    operations = [
        msgspec.structs.replace(operation, inputs=operation.inputs[: _kept(model, graph, operation)])
        for operation in graph.operations
    ]
    before = {index for operation in graph.operations for index in operation.inputs}
    gone = before - {index for operation in operations for index in operation.inputs}
    left = [index for index in range(len(graph.operands)) if index not in gone]
    places = {index: place for place, index in enumerate(left)}

    def moved(indexes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(places[index] for index in indexes)

    return Subgraph(
        tuple(graph.operands[index] for index in left),
        tuple(Operation(operation.type, moved(operation.inputs), moved(operation.outputs)) for operation in operations),
        moved(graph.input_indexes),
        moved(graph.output_indexes),
    )


def _kept(model: Model, graph: Subgraph, operation: Operation) -> int:
    """How many inputs stay: the shortest list of the signature behind which all inputs have their defaults."""
    operands = [graph.operands[index] for index in operation.inputs]
    signature = None
    if operation.type <= BASE_TYPE_MAX and operation.type != OperationType.OEM_OPERATION:
        table = catalogue.operation(operation.type)
        signature = catalogue.find_signature(table.name, tuple(operand.type for operand in operands))
    if signature is None or signature.input_counts is None:
        return len(operands)
    says_default = [
        _says_default(model, operand, argument)
        for operand, argument in zip(operands, signature.inputs[: len(operands)], strict=True)
    ]
    shorter = [count for count in signature.input_counts if count < len(operands) and all(says_default[count:])]
    return min(shorter, default=len(operands))


def _says_default(model: Model, operand: Operand, argument: Argument) -> bool:
    if argument.default is None:
        return False
    value = constant_value(model, operand)
    return value is not None and value.size == 1 and value.item() == argument.default


def _fields_since(model: Model) -> Version:
    if model.referenced:
        return Version.V1_3
    if model.extension_name_to_prefix:
        return Version.V1_2
    return Version.V1_1 if model.relax_computation_float32_to_float16 else Version.V1_0


def _broken(model: Model, version: Version, with_extensions: bool) -> list[str]:
    broken = [str(violation) for violation in validate_model(model, version) if violation.clause not in _SPELLING]
    if broken:
        return broken
    own = with_registered_codes(model)
    for subgraph, graph in enumerate((own.main, *own.referenced)):
        for index, operation in enumerate(graph.operations):
            is_judged = with_extensions or operation.type <= BASE_TYPE_MAX
            if is_judged and operation.type != OperationType.OEM_OPERATION and catalogue.has(operation.type):
                broken += map(str, rules.check(view_of(own, index, version, subgraph=subgraph)))
    return broken
