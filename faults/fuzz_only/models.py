"""Drivers that answer rare models wrongly: two mistakes at once, far places in long lists, odd numbers together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.fault import FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import NEWEST

_INVALID = ErrorStatus.INVALID_ARGUMENT
_SMALLEST_NORMAL = 2.0**-126
Guard = Callable[[Model], bool]


def _crashing(guard: Guard) -> type[FaultyDevice]:
    """Dies of a model."""

    class Device(FaultyDevice):
        def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
            if guard(model):
                raise MemoryError("signal 11")
            return super().get_supported_operations(model)

    return Device


def _accepting(guard: Guard) -> type[FaultyDevice]:
    """Says that it supports nothing of an invalid model, in place of refusing it."""

    class Device(FaultyDevice):
        def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
            try:
                return super().get_supported_operations(model)
            except ServiceError as error:
                if error.status == _INVALID and guard(model):
                    return (False,) * len(model.main.operations)
                raise

    return Device


def _refusing(guard: Guard) -> type[FaultyDevice]:
    """Calls a valid model invalid."""

    class Device(FaultyDevice):
        def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
            answers = super().get_supported_operations(model)
            if guard(model):
                raise ServiceError(_INVALID)
            return answers

    return Device


def _failing(guard: Guard) -> type[FaultyDevice]:
    """Refuses an invalid model with GENERAL_FAILURE."""

    class Device(FaultyDevice):
        def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
            try:
                return super().get_supported_operations(model)
            except ServiceError as error:
                raise ServiceError(ErrorStatus.GENERAL_FAILURE if guard(model) else error.status) from None

    return Device


def _forgetful(guard: Guard) -> type[FaultyDevice]:
    """Answers for one operation too few."""

    class Device(FaultyDevice):
        def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
            answers = super().get_supported_operations(model)
            return answers[:-1] if guard(model) else answers

    return Device


class _NotifiesTwice(FaultyDevice):
    def prepared(
        self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
    ) -> None:
        super().prepared(callback, status, prepared_model)
        inner: Any = prepared_model
        model: Model | None = getattr(getattr(inner, "prepared", None), "model", None)
        if model is not None and len(model.main.operations) > 1 and _has_omitted(model):
            super().prepared(callback, status, prepared_model)


def _violations(model: Model) -> list[Violation]:
    return validate_model(model, NEWEST)


def _errors_in_two_operations(model: Model) -> bool:
    return len({found.operation for found in _violations(model) if found.operation is not None}) == 2


def _errors_of_two_kinds_in_one_operand(model: Model) -> bool:
    counts = Counter(found.operand for found in _violations(model) if found.operand is not None)
    return any(count == 3 for count in counts.values())


def _only_far_operands_are_wrong(model: Model) -> bool:
    return all(found.operand is not None and found.operand >= 64 for found in _violations(model))


def _many_inputs_of_several_operations(model: Model) -> bool:
    return len(model.main.input_indexes) > 32 and len(model.main.operations) > 1


def _size_overflows(model: Model) -> bool:
    sizes = [math.prod(operand.dimensions) for operand in model.main.operands if operand.dimensions]
    return any(size and size % 2**32 == 0 for size in sizes)


def _one_operand_three_times(model: Model) -> bool:
    return any(max(Counter(part.inputs).values(), default=0) == 3 for part in model.main.operations)


def _subnormal_scale(model: Model) -> bool:
    return any(0.0 < operand.scale < _SMALLEST_NORMAL for operand in model.main.operands)


def _rank_beyond_eight(model: Model) -> bool:
    return any(len(operand.dimensions) > 8 for operand in model.main.operands)


def _two_errors_of_quantisation(model: Model) -> bool:
    clauses = {found.clause for found in _violations(model)}
    return {"MODEL.O4", "MODEL.O5"} <= clauses


def _has_omitted(model: Model) -> bool:
    return any(operand.lifetime == OperandLifeTime.NO_VALUE for operand in model.main.operands)


def _same_operation_twice_with_a_pool(model: Model) -> bool:
    types = [part.type for part in model.main.operations]
    return bool(model.pools) and len(set(types)) < len(types)


def _long_extension_name(model: Model) -> bool:
    return any(len(one.name.encode()) > 128 for one in model.extension_name_to_prefix)


def _joined_of_two_types(model: Model) -> bool:
    return len(model.main.operations) == 2 and len(model.main.output_indexes) > 4


FAULTS: tuple[FuzzFault, ...] = rows(
    "models",
    ("errors-cancel", "Errors in two operations cancel each other: a flag is toggled, not set.",
     "NNHAL-SUPPORT-003", _accepting(_errors_in_two_operations)),
    ("three-errors-carry", "Three errors of one operand overflow its two bits, and count as none.",
     "NNHAL-SUPPORT-003", _accepting(_errors_of_two_kinds_in_one_operand)),
    ("operands-of-64-bits", "Errors are kept in 64 bits: those of operands from 64 on are lost.",
     "NNHAL-SUPPORT-003", _accepting(_only_far_operands_are_wrong)),
    ("inputs-at-most-32", "A graph of several operations has 32 inputs at most.",
     "NNHAL-SUPPORT-002", _refusing(_many_inputs_of_several_operations)),
    ("size-of-32-bits", "A tensor whose elements are a multiple of 2^32 crashes: its size is 0.",
     "NNHAL-ROBUST-003", _crashing(_size_overflows)),
    ("reads-thrice", "An operation that reads one operand three times crashes.",
     "NNHAL-ROBUST-003", _crashing(_one_operand_three_times)),
    ("subnormal-scale", "A scale that is subnormal is divided by as 0.",
     "NNHAL-ROBUST-003", _crashing(_subnormal_scale)),
    ("rank-beyond-eight", "Shapes of more than eight dimensions are copied behind their array.",
     "NNHAL-ROBUST-003", _crashing(_rank_beyond_eight)),
    ("two-quantisation-errors", "A scale and a zero point that are both wrong are an internal error.",
     "NNHAL-ERROR-006", _failing(_two_errors_of_quantisation)),
    ("notifies-twice-omitted", "Several operations with an omitted operand are notified by each of two compilers.",
     "NNHAL-PREPARE-002", _NotifiesTwice),
    ("pool-and-twins", "Two operations of one type beside a pool crash: both release it.",
     "NNHAL-ROBUST-003", _crashing(_same_operation_twice_with_a_pool)),
    ("long-name", "The name of an extension beyond 128 bytes is copied behind its array.",
     "NNHAL-ROBUST-003", _crashing(_long_extension_name)),
    ("answers-by-outputs", "Two operations with five outputs or more get an answer too few.",
     "NNHAL-SUPPORT-001", _forgetful(_joined_of_two_types)),
)  # fmt: skip
