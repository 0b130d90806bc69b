"""Roles of driver-managed buffers: which inputs and outputs of which prepared models a buffer is to serve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import BufferDesc, BufferRole, Operand


def check_roles(
    desc: BufferDesc,
    prepared_models: Sequence[hal.PreparedModel | None],
    input_roles: Sequence[BufferRole],
    output_roles: Sequence[BufferRole],
) -> None:
    """Raise ServiceError(INVALID_ARGUMENT) for what allocate may not be asked (NNHAL-MEMDOMAIN-005 to -013)."""
    models = [_own(model) for model in prepared_models]
    if not models or not (input_roles or output_roles):
        raise _invalid("no prepared model or no role")
    roles = [("input", role) for role in input_roles] + [("output", role) for role in output_roles]
    seen: set[tuple[int, str, int]] = set()
    for kind, role in roles:
        key = (id(_model(models, role)), kind, role.io_index)
        if key in seen or not 0.0 < role.probability <= 1.0:
            raise _invalid(f"{kind} role {role.io_index}: repeated, or of probability {role.probability}")
        seen.add(key)
    operands = [_operand(_model(models, role), kind, role) for kind, role in roles]
    _check_same(operands)
    _combine([desc.dimensions, *(operand.dimensions for operand in operands)])


def _own(model: hal.PreparedModel | None) -> ReferencePreparedModel:
    if not isinstance(model, ReferencePreparedModel):
        raise _invalid("a prepared model of another device")
    return model


def _model(models: Sequence[ReferencePreparedModel], role: BufferRole) -> ReferencePreparedModel:
    if not 0 <= role.model_index < len(models):
        raise _invalid(f"no prepared model {role.model_index}")
    return models[role.model_index]


def _operand(model: ReferencePreparedModel, kind: str, role: BufferRole) -> Operand:
    graph = model.model.main
    indexes = graph.input_indexes if kind == "input" else graph.output_indexes
    if not 0 <= role.io_index < len(indexes):
        raise _invalid(f"no {kind} {role.io_index}")
    return graph.operands[indexes[role.io_index]]


def _check_same(operands: Sequence[Operand]) -> None:
    if len({(operand.type, operand.scale, operand.zero_point, operand.extra_params) for operand in operands}) > 1:
        raise _invalid("roles of different type or quantisation")


def _combine(shapes: Sequence[tuple[int, ...]]) -> None:
    """Check that all known ranks and sizes agree; empty is an unknown rank, 0 an unknown size."""
    known = [shape for shape in shapes if shape]
    if len({len(shape) for shape in known}) > 1 or any(len(sizes) > 1 for sizes in _sizes(known)):
        raise _invalid(f"shapes {known} do not agree")


def _sizes(shapes: Sequence[tuple[int, ...]]) -> Iterator[set[int]]:
    return (set(sizes) - {0} for sizes in zip(*shapes, strict=True))


def _invalid(message: str) -> ServiceError:
    return ServiceError(ErrorStatus.INVALID_ARGUMENT, message)
