"""What addOperation checks: the code, the operands, and the signature (FW-MDL-021). The rest is finish's."""

from __future__ import annotations

from npu_conformance.reference.runtime.objects.assembling import wire_model
from npu_conformance.reference.runtime.objects.draft import Draft
from npu_conformance.reference.runtime.objects.extensions import is_extension
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.types import Operation
from npu_conformance.specs.neuralnetworks.validate_operations import check_operations, match_types
from npu_conformance.specs.neuralnetworks.validate_scope import ModelUnderValidation, limits_of
from npu_conformance.specs.versions import Version

_BORDER_RULES = ("MODEL.P5", "MODEL.P6", "MODEL.P7")


def check_operation(model: Draft, operation: Operation, version: Version) -> None:
    """Raise BAD_DATA for an operation that no model of the version can have."""
    count = len(model.operands)
    is_known = is_extension(operation.type) or operation.type in limits_of(version).operations
    if not is_known and operation.type != OperationType.OEM_OPERATION:
        raise bad_data(f"there is no operation {operation.type}")
    if not all(0 <= index < count for index in (*operation.inputs, *operation.outputs)):
        raise bad_data(f"operation {operation.type} names an operand that does not exist")
    if is_extension(operation.type):
        _check_extension(model, operation)
    elif operation.type in (OperationType.IF, OperationType.WHILE):
        _check_control_flow(model, operation, version)
    elif operation.type != OperationType.OEM_OPERATION:
        _check_types(model, operation, version)


def _check_extension(model: Draft, operation: Operation) -> None:
    """Its signature is known to drivers alone (FW-EXT-007)."""
    extensions = model.environment.extensions
    if not extensions.are_allowed():
        raise bad_data("the process may not use extensions")  # FW-EXT-001
    if not extensions.has_prefix(operation.type):
        raise bad_data(f"operation {operation.type} has a prefix that was not given out")


def _check_types(model: Draft, operation: Operation, version: Version) -> None:
    operands = model.operands
    inputs = tuple([operands[index].type for index in operation.inputs])
    outputs = tuple([operands[index].type for index in operation.outputs])
    match = match_types(operation.type, inputs, outputs, version)
    if match.problem:
        raise bad_data(f"operation {operation.type}: {match.problem}")


def _check_control_flow(model: Draft, operation: Operation, version: Version) -> None:
    scope = ModelUnderValidation(wire_model(model, (operation,))[0], version)
    check_operations(scope, 0, scope.model.main)
    broken = next((one for one in scope.violations if one.clause in _BORDER_RULES), None)
    if broken is not None:
        raise bad_data(str(broken))
