"""The models that a case asks a device for: which operations they really have, and what became of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from npu_conformance.specs.documents.results import ModelUse, OperationUse
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.model_text import operand_type_name, operation_name
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph

_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL)


class AskedModel(msgspec.Struct):
    """A model that a device took for valid. executed: whether an execution of it ended with NONE."""

    model: Model
    uses: ModelUse
    executed: bool = False

    @property
    def is_refused(self) -> bool:
        """True where the device said that it does not support all of it."""
        return not all(use.supported for use in self.uses)


def asked(model: Model, answers: Sequence[bool] = ()) -> AskedModel:
    """A model, with what the device said of each operation of the main graph; none where it was not asked."""
    known = with_registered_codes(model)
    main = [
        _use(known.main, operation, supported=answers[number] if answers else True)
        for number, operation in enumerate(known.main.operations)
    ]
    inner = [_use(graph, operation) for graph in known.referenced for operation in graph.operations]
    return AskedModel(model, (*main, *inner))


def operations_of(models: Iterable[AskedModel]) -> dict[str, tuple[str, ...]]:
    """The types of the tensors of each operation in these models."""
    found: dict[str, dict[str, None]] = {}
    for one in models:
        for use in one.uses:
            found.setdefault(use.operation, {}).update(dict.fromkeys(use.types))
    return {operation: tuple(types) for operation, types in found.items()}


def _use(graph: Subgraph, operation: Operation, *, supported: bool = True) -> OperationUse:
    # A device may have taken a model for valid that is not: what does not exist is left out.
    inputs, outputs = (
        [graph.operands[index] for index in indexes if 0 <= index < len(graph.operands)]
        for indexes in (operation.inputs, operation.outputs)
    )
    tensors = [operand for operand in (*inputs, *outputs) if _is_tensor(operand)]
    return OperationUse(
        operation=operation_name(operation.type),
        types=tuple(dict.fromkeys(operand_type_name(one.type) for one in tensors if not _is_parameter(one))),
        rank=_rank(inputs[0]) if inputs else None,
        elements=_elements(tensors),
        supported=supported,
    )


def _is_tensor(operand: Operand) -> bool:
    info = OPERAND_TYPES.get(operand.type)
    return (info is None or info.is_tensor) and operand.lifetime != OperandLifeTime.NO_VALUE


def _is_parameter(operand: Operand) -> bool:
    """True for paddings, axes, shapes and biases that are known when a model is prepared."""
    return operand.type == OperandType.TENSOR_INT32 and operand.lifetime in _CONSTANTS


def _rank(operand: Operand) -> int | None:
    return len(operand.dimensions) or (None if _is_tensor(operand) else 0)


def _elements(tensors: Sequence[Operand]) -> int | None:
    """Elements of the largest tensor; None where a size is open."""
    sizes = [math.prod(operand.dimensions) if operand.dimensions else 0 for operand in tensors]
    return max(sizes, default=0) if all(sizes) else None
