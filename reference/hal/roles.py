"""Roles of driver-managed buffers: which inputs and outputs of which prepared models a buffer is to serve."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from npu_conformance.reference.hal.buffers import Buffers, Direction, Plan, Role, compatible, invalid_argument
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import BufferDesc, BufferRole, Operand


def plan_of(
    desc: BufferDesc,
    prepared_models: Sequence[hal.PreparedModel | None],
    input_roles: Sequence[BufferRole],
    output_roles: Sequence[BufferRole],
    buffers: Buffers,
) -> Plan:
    """What the buffer has to serve. Raises INVALID_ARGUMENT for an illegal wish (NNHAL-MEMDOMAIN-005 to -013).

    buffers: the device's, by which it knows its own prepared models.
    """
    models = [_own(model, buffers) for model in prepared_models]
    if not models or not (input_roles or output_roles):
        raise invalid_argument("no prepared model or no role")
    roles: dict[Role, Operand] = {}
    for role in input_roles:
        _add(roles, "input", models, role)
    for role in output_roles:
        _add(roles, "output", models, role)
    operands = list(roles.values())
    _check_same(operands)
    dimensions = _combined([desc.dimensions, *(operand.dimensions for operand in operands)])
    if dimensions and not OPERAND_TYPES[operands[0].type].is_tensor:
        raise invalid_argument(f"dimensions {dimensions} for a scalar")
    return Plan(operands[0].type, dimensions, frozenset(roles))


def _own(model: hal.PreparedModel | None, buffers: Buffers) -> ReferencePreparedModel:
    if not isinstance(model, ReferencePreparedModel) or model.prepared.buffers is not buffers:
        raise invalid_argument("a prepared model of another device")
    return model


def _add(
    roles: dict[Role, Operand], direction: Direction, models: Sequence[ReferencePreparedModel], wanted: BufferRole
) -> None:
    """Add a role with its operand. The same model twice in the list is one model (NNHAL-MEMDOMAIN-010)."""
    if not 0 <= wanted.model_index < len(models):
        raise invalid_argument(f"no prepared model {wanted.model_index}")
    if not 0.0 < wanted.probability <= 1.0:
        raise invalid_argument(f"probability {wanted.probability}")
    prepared = models[wanted.model_index].prepared
    role = Role(weakref.ref(prepared), direction, wanted.io_index)
    if role in roles:
        raise invalid_argument(f"{direction} {wanted.io_index} is named twice")
    graph = prepared.model.main
    indexes = graph.input_indexes if direction == "input" else graph.output_indexes
    if not 0 <= wanted.io_index < len(indexes):
        raise invalid_argument(f"no {direction} {wanted.io_index}")
    roles[role] = graph.operands[indexes[wanted.io_index]]


def _check_same(operands: Sequence[Operand]) -> None:
    if len({(operand.type, operand.scale, operand.zero_point, operand.extra_params) for operand in operands}) > 1:
        raise invalid_argument("roles of different type or quantisation")


def _combined(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that satisfies all shapes; empty is an unknown rank, 0 an unknown size."""
    combined: tuple[int, ...] = ()
    for shape in shapes:
        if not compatible(combined, shape) or any(size < 0 for size in shape):
            raise invalid_argument(f"shapes {list(shapes)} do not agree")
        # Where both sizes are known they are equal.
        combined = tuple(map(max, combined, shape)) if combined and shape else combined or shape
    return combined
