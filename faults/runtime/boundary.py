"""Faults at the boundary between an app and the runtime: wrong codes, places left unwritten, refused calls that act."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Fault
from npu_conformance.faults.runtime.hooks import FaultyRuntime, behind, overriding
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import UNTOUCHED, OperandDescription
from npu_conformance.specs.versions import NEWEST, Version

OK, NULL, DATA, STATE = (
    ResultCode.NO_ERROR,
    ResultCode.UNEXPECTED_NULL,
    ResultCode.BAD_DATA,
    ResultCode.BAD_STATE,
)
FAILED = ResultCode.OP_FAILED
_NO_CODE = 15
_SCALAR = OperandDescription(OperandType.INT32)

Behave = Callable[[Runtime, tuple[Any, ...], Any], Any]
"""Gets the runtime behind the boundary, the arguments of a call and its answer; returns the answer of the app."""


Act = Callable[[Any, tuple[Any, ...]], object]
"""What a refused call does nevertheless; it gets the call's arguments."""


def result_of(answer: Any) -> int:
    """The code of an answer."""
    return answer if isinstance(answer, int) else int(answer.result)


def with_result(answer: Any, code: int) -> Any:
    """The answer with another code."""
    return code if isinstance(answer, int) else msgspec.structs.replace(answer, result=code)


def _recoded(found: int, instead: int, inner: Runtime, arguments: tuple[Any, ...], answer: Any) -> Any:
    """Another code in place of one."""
    return with_result(answer, instead) if result_of(answer) == found else answer


def _rewritten(inner: Runtime, arguments: tuple[Any, ...], answer: Any, **fields: Any) -> Any:
    """Something else in the places that are written to, where the call has failed."""
    return answer if result_of(answer) == OK else msgspec.structs.replace(answer, **fields)


def _told(inner: Runtime, arguments: tuple[Any, ...], answer: Any, **fields: Any) -> Any:
    """Something else in the places that are written to, where the call has succeeded."""
    return msgspec.structs.replace(answer, **fields) if result_of(answer) == OK else answer


def _acting(
    code: int,
    act: Callable[[Runtime, tuple[Any, ...]], object],
    inner: Runtime,
    arguments: tuple[Any, ...],
    answer: Any,
) -> Any:
    """A refused call that does something nevertheless."""
    if result_of(answer) == code:
        act(inner, arguments)
    return answer


def _acts_on(code: int, act: Act) -> Behave:
    """A refusal with this code acts."""
    return partial(_acting, code, act)


def once(position: int = 0) -> Behave:
    """What succeeds for each object once, and is refused from then on. position: the object's among the arguments."""
    known: WeakKeyDictionary[Runtime, set[int]] = WeakKeyDictionary()  # a runtime that starts again knows no object

    def behave(inner: Runtime, arguments: tuple[Any, ...], answer: Any) -> Any:
        done = known.setdefault(inner, set())
        if result_of(answer) != OK:
            return answer
        if arguments[position] in done:
            return with_result(answer, STATE)
        done.add(arguments[position])
        return answer

    return behave


def _fault(
    name: str, description: str, breaks: str, caught_by: str, function: str, behave: Behave, level: Version = NEWEST
) -> Fault:
    def hook(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return behave(runtime.inner, arguments, meant(*arguments))

    mechanism = behind(overriding({function: hook}), level)
    return fault(name, description, breaks, caught_by, mechanism, level, family="runtime-boundary")


_CODES: tuple[tuple[str, int, int, str, str], ...] = (
    ("get_device", DATA, NULL, "FW-DEV-001", "get_device.index_is_count"),
    ("model_add_operand", STATE, DATA, "FW-MDL-001", "model_add_operand.finished_model"),
    ("model_set_operand_value", NULL, DATA, "FW-MDL-014", "model_set_operand_value.null_buffer"),
    ("model_add_operation", DATA, _NO_CODE, "FW-API-005 FW-MDL-021", "model_add_operation.signature"),
    ("model_finish", STATE, DATA, "FW-MDL-025", "model_finish.finished_model"),
    (
        "model_set_operand_value_from_model",
        STATE,
        DATA,
        "FW-MDL-020",
        "model_set_operand_value_from_model.value_invalid",
    ),
    ("compilation_create", STATE, DATA, "FW-CMP-001", "compilation_create.model_not_finished"),
    ("compilation_set_preference", STATE, DATA, "FW-CMP-003", "compilation_set_preference.finished"),
    ("burst_create", STATE, DATA, "FW-EXE-001", "burst_create.compilation_unfinished"),
    ("execution_create", STATE, DATA, "FW-EXE-001", "execution_create.compilation_failed"),
    ("execution_set_input", NULL, DATA, "FW-API-001", "execution_set_input.null_execution"),
    ("execution_set_output", STATE, DATA, "FW-EXE-004", "execution_set_output.already_set"),
    ("execution_set_timeout", DATA, STATE, "FW-EXE-009", "execution_set_timeout.implicit_devices"),
    ("execution_set_reusable", STATE, DATA, "FW-EXE-003", "execution_set_reusable.started"),
    ("execution_compute", DATA, FAILED, "FW-EXE-011", "execution_compute.argument_unset"),
    ("execution_get_duration", STATE, FAILED, "FW-EXE-019", "execution_get_duration.timing_off"),
    ("event_get_sync_fence_fd", DATA, FAILED, "FW-EXE-024", "event_get_sync_fence_fd.no_fence"),
    ("memory_create_from_fd", DATA, NULL, "FW-MEM-010", "memory_create_from_fd.size_0_or_no_descriptor"),
    ("memory_desc_add_input_role", DATA, STATE, "FW-MEM-002", "memory_desc_add_input_role.compilation_not_finished"),
    ("memory_create_from_desc", STATE, DATA, "FW-MEM-001", "memory_create_from_desc.unfinished_descriptor"),
)
"""Function, the right code, the wrong one, what that breaks, and the case of cts.misuse."""

_PLACES: tuple[tuple[str, str, str, str, str, dict[str, Any]], ...] = (
    ("event-left", "A computation that does not start leaves the event's place alone.", "FW-EXE-012 FW-API-004",
     "cts.misuse.execution_start_compute.event_of_failure", "execution_start_compute", {"handle": UNTOUCHED}),
    ("compilation-invented", "A refused compilation has a handle.", "FW-API-004",
     "cts.misuse.compilation_create.model_not_finished", "compilation_create", {"handle": 7}),
    ("memory-left", "No memory from a descriptor, and its place is left alone.", "FW-API-004",
     "cts.misuse.memory_create_from_desc.unfinished_descriptor", "memory_create_from_desc", {"handle": UNTOUCHED}),
    ("duration-zero", "A duration that there is not is 0.", "FW-EXE-019",
     "cts.misuse.execution_get_duration.before_computation", "execution_get_duration", {"value": 0}),
    ("rank-left", "The rank of an output that did not fit is not written.", "FW-EXE-018",
     "cts.misuse.execution_get_output_operand_rank.output_too_small", "execution_get_output_operand_rank",
     {"value": UNTOUCHED}),
)  # fmt: skip


_ABSURD: tuple[tuple[str, str, str, str, str, dict[str, Any]], ...] = (
    ("shape-beyond-its-room", "An output is told to be larger than what it was given.", "FW-EXE-017",
     "cts.partitioning.plans.output_read_later", "execution_get_output_operand_dimensions", {"values": (2**31, 2**31)}),
    ("negative-shape", "An output is told to have -1 rows.", "FW-EXE-017",
     "cts.partitioning.plans.output_read_later", "execution_get_output_operand_dimensions", {"values": (-1, 2)}),
    ("shape-of-hundred-ones", "An output is told to have a rank of a hundred.", "FW-EXE-017",
     "cts.partitioning.plans.output_read_later", "execution_get_output_operand_dimensions", {"values": (1,) * 100}),
    ("countless-devices", "There are said to be 2^63 devices.", "FW-DEV-001",
     "cts.extensions.models.supported_operations", "get_device_count", {"value": 2**63}),
)  # fmt: skip
"""What no runtime says. The suite judges it, and neither fails by itself nor takes for ever."""


def _refusals() -> tuple[tuple[str, str, str, str, str, Behave], ...]:
    """Refused calls that act, and legal ones that work once."""
    return (
        ("refused-operand-added", "A refused operand takes an index.", "FW-MDL-003",
         "cts.misuse.model_add_operand.scalar_with_dimensions", "model_add_operand",
         _acts_on(DATA, lambda inner, arguments: inner.model_add_operand(arguments[0], _SCALAR))),
        ("refused-priority-finishes", "A refused priority ends the compilation.", "FW-CMP-006",
         "cts.misuse.compilation_set_priority.priority", "compilation_set_priority",
         _acts_on(DATA, lambda inner, arguments: inner.compilation_finish(arguments[0]))),
        ("refused-length-set", "An input of a wrong length is set.", "FW-EXE-007",
         "cts.misuse.execution_set_input.length", "execution_set_input",
         _acts_on(DATA, lambda inner, arguments: inner.execution_set_input(*arguments[:4], 8))),
        ("refused-burst-computes", "An execution is computed although its burst is another's.", "FW-EXE-014",
         "cts.misuse.execution_burst_compute.burst_of_another_compilation", "execution_burst_compute",
         _acts_on(DATA, lambda inner, arguments: inner.execution_compute(arguments[0]))),
        ("refused-role-added", "A role of a wrong frequency is declared.", "FW-MEM-002",
         "cts.misuse.memory_desc_add_output_role.frequency", "memory_desc_add_output_role",
         _acts_on(DATA, lambda inner, arguments: inner.memory_desc_add_output_role(*arguments[:3], 1.0))),
        ("refused-finish-frees", "A second finish frees the model.", "FW-MDL-025",
         "cts.misuse.model_finish.finished_model", "model_finish",
         _acts_on(STATE, lambda inner, arguments: inner.model_free(arguments[0]))),
        ("refused-setter-frees", "A setter behind the computation frees the execution.", "FW-EXE-002",
         "cts.misuse.execution_set_loop_timeout.started", "execution_set_loop_timeout",
         _acts_on(STATE, lambda inner, arguments: inner.execution_free(arguments[0]))),
        ("rank-once", "The rank of an output can be asked once.", "FW-EXE-017",
         "cts.states.execution.results_may_be_asked_again", "execution_get_output_operand_rank",
         once()),
        ("preference-once", "A preference can be set once.", "FW-CMP-004",
         "cts.states.compilation.setters_may_be_repeated", "compilation_set_preference", once()),
        ("memory-once", "A descriptor makes memory once.", "FW-MEM-001",
         "cts.states.descriptor.finished_refuses_changes", "memory_create_from_desc", once()),
        ("finish-once-in-all", "An event can be waited for once.", "FW-EXE-013",
         "cts.states.event.waited_for_again", "event_wait", once()),
        ("burst-once", "A burst takes one execution.", "FW-EXE-014 FW-EXE-015",
         "cts.states.burst.one_execution_after_the_other", "execution_burst_compute", once(1)),
    )  # fmt: skip


FAULTS = (
    *(
        _fault(
            f"code-{function.replace('_', '-')}",
            f"{function} returns {wrong} where {right} is due.",
            breaks,
            f"cts.misuse.{case}",
            function,
            partial(_recoded, right, wrong),
        )
        for function, right, wrong, breaks, case in _CODES
    ),
    *(
        _fault(name, description, breaks, case, function, partial(_rewritten, **fields))
        for name, description, breaks, case, function, fields in _PLACES
    ),
    *(
        _fault(name, description, breaks, case, function, partial(_told, **fields))
        for name, description, breaks, case, function, fields in _ABSURD
    ),
    *(_fault(*row) for row in _refusals()),
    _fault(
        "fence-in-the-wrong-state",
        "At feature level 4 an event without a fence is BAD_STATE.",
        "FW-EXE-024",
        "cts.misuse.event_get_sync_fence_fd.no_fence_level_4",
        "event_get_sync_fence_fd",
        partial(_recoded, FAILED, STATE),
        Version.V1_3,
    ),
)
"""Each changes what one function answers."""
