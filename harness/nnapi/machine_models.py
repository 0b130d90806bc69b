"""The calls on models and compilations that random sequences are made of."""

from __future__ import annotations

import struct
from typing import Any

from npu_conformance.harness.judge.api_model import (
    OK,
    WRONG_OPERANDS,
    Code,
    CompilationState,
    ModelState,
    bad_data,
    bad_state,
    null,
)
from npu_conformance.harness.nnapi.app import ACTIVATION, UNKNOWN_DIMENSION, VECTOR
from npu_conformance.harness.nnapi.machine import ApiMachine, Living, Step, always, handle_of, on
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription

_RIGHT = {"vector": VECTOR, "unknown": UNKNOWN_DIMENSION, "scalar": ACTIVATION}
_WRONG = {
    "scalar with dimensions": OperandDescription(OperandType.INT32, 1, (2,)),
    "scaled float": OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,), 1.0),
    "no such type": OperandDescription(9999, 1, (2,)),
    "dimensions without a count": OperandDescription(OperandType.TENSOR_FLOAT32, 0, (2,)),
    "count without dimensions": OperandDescription(OperandType.TENSOR_FLOAT32, 1, None),
    "unscaled code": OperandDescription(OperandType.TENSOR_QUANT8_ASYMM, 1, (2,), 0.0, 128),
    "code without a zero point": OperandDescription(OperandType.TENSOR_QUANT8_ASYMM, 1, (2,), 0.5, 256),
    "signed code without a zero point": OperandDescription(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, 1, (2,), 0.5, 128),
    "symmetric code with a zero point": OperandDescription(OperandType.TENSOR_QUANT8_SYMM, 1, (2,), 0.5, 1),
    "long code without a zero point": OperandDescription(OperandType.TENSOR_QUANT16_ASYMM, 1, (2,), 0.5, 65536),
    "too many bytes": OperandDescription(OperandType.TENSOR_FLOAT32, 2, (65536, 65536)),
}
_KINDS = ("vector", "unknown", "scalar", "vector", "scalar", "vector", "", "")
"""Empty for one that is refused."""
_OPERATIONS = (
    ((0, 1, 2), 3), ((3, 1, 2), 4), ((0, 4, 2), 3), ((0, 1), 3), ((0, 1, 99), 3), ((0, 1, 2), 3), ((0, 0, 2), 3),
)  # fmt: skip
"""Inputs and output of ADDs; the fourth and the fifth are always wrong."""
_IDENTIFIED = (((0, 1), 3), ((0, 1), 3), ((0, 1), 4), ((0, 1), 3), ((0, 0), 3), ((0, 3), 3))
"""The last two are always wrong."""
_SECOND_NS = 1_000_000_000
_PREFERENCES, _PRIORITIES = (0, 1, 2, 3), (90, 100, 110, 0)
_VALUES = {index: struct.pack("<i", index) for index in range(4)}
_TENSOR = struct.pack("<2f", 3, -4)
_PREFERRED = (
    "compilation_get_preferred_memory_alignment_for_input",
    "compilation_get_preferred_memory_padding_for_input",
    "compilation_get_preferred_memory_alignment_for_output",
    "compilation_get_preferred_memory_padding_for_output",
)


def create_model(machine: ApiMachine, step: Step) -> None:
    """model_create."""
    if step.value % 8 == 7:
        machine.call("model_create", always(null()), False)
    else:
        machine.make(machine.models, ModelState, "model_create", always(), True)


def add_operand(machine: ApiMachine, step: Step) -> None:
    """model_add_operand."""
    model = machine.models.find(step.object)
    wrong = list(WRONG_OPERANDS)
    kind = _KINDS[step.value % len(_KINDS)] or wrong[step.value // len(_KINDS) % len(wrong)]
    described = {**_RIGHT, **_WRONG}[kind]
    machine.call("model_add_operand", on(model, lambda state: state.add_operand(kind)), handle_of(model), described)


def set_value(machine: ApiMachine, step: Step) -> None:
    """model_set_operand_value."""
    model = machine.models.find(step.object)
    index = (2, 2, 2, 99, 2, 4, 2, 0)[step.value // 12 % 8]
    value = (_VALUES[0], _VALUES[step.value // 3 % 4], _TENSOR)[step.value % 3]
    if step.value // 96 == 8:
        if model is None or not model.is_lost:
            machine.call("model_set_operand_value", always(null("FW-MDL-014")), handle_of(model), index, None, 4)
        return
    rule = on(model, lambda state: state.set_value(index, value))
    machine.call("model_set_operand_value", rule, handle_of(model), index, machine.value(value), len(value))


def add_operation(machine: ApiMachine, step: Step) -> None:
    """model_add_operation."""
    model = machine.models.find(step.object)
    inputs, output = _OPERATIONS[step.value % len(_OPERATIONS)]
    rule = on(model, lambda state: state.add_operation(inputs, output))
    machine.call("model_add_operation", rule, handle_of(model), OperationType.ADD, inputs, (output,))


def identify(machine: ApiMachine, step: Step) -> None:
    """model_identify_inputs_and_outputs."""
    model = machine.models.find(step.object)
    inputs, output = _IDENTIFIED[step.value % len(_IDENTIFIED)]
    rule = on(model, lambda state: state.identify(inputs, output))
    machine.call("model_identify_inputs_and_outputs", rule, handle_of(model), inputs, (output,))


def finish_model(machine: ApiMachine, step: Step) -> None:
    """model_finish."""
    model = machine.models.find(step.object)
    machine.call("model_finish", on(model, lambda state: state.finish()), handle_of(model))


def relax(machine: ApiMachine, step: Step) -> None:
    """model_relax_computation_float32_to_float16."""
    model = machine.models.find(step.object)
    rule = on(model, lambda state: OK if state.ended is None else bad_state("FW-MDL-001"))
    machine.call("model_relax_computation_float32_to_float16", rule, handle_of(model), step.value % 2 == 0)


def _devices(machine: ApiMachine, value: int) -> tuple[tuple[int, ...], str]:
    """A list of devices, and what is wrong with it."""
    cpu, kind = machine.app.cpu(), value % 8
    lists: dict[int, tuple[int, ...]] = {2: (), 3: (NULL,), 6: (cpu, cpu)}
    return lists.get(kind, (cpu,)), {2: "empty", 3: "null", 6: "twice"}.get(kind, "")


def _of_devices(state: ModelState, wrong: str, requirement: str, late: str) -> Code:
    """Which of two mistakes is told is open."""
    if wrong and not state.ended:
        return None
    if wrong:
        return null(requirement) if wrong == "null" else bad_data(requirement)
    return OK if state.ended else bad_state(late)


def compile_(machine: ApiMachine, step: Step) -> None:
    """compilation_create and compilation_create_for_devices."""
    model = machine.models.find(step.object)
    if step.value % 2:
        if not machine.reaches("compilation_create_for_devices"):
            return
        devices, wrong = _devices(machine, step.value // 2)
        if wrong and (model is None or model.is_lost):
            return
        rule = on(model, lambda state: _of_devices(state, wrong, "FW-CMP-002", "FW-CMP-001"))
        arguments: tuple[Any, ...] = ("compilation_create_for_devices", rule, handle_of(model), devices, True)
    else:
        rule = on(model, lambda state: OK if state.ended else bad_state("FW-CMP-001"))
        arguments = ("compilation_create", rule, handle_of(model), True)
    machine.make(machine.compilations, lambda: _compilation(model, step), *arguments, uses=(model,))


def _compilation(model: Living[ModelState] | None, step: Step) -> CompilationState:
    assert model is not None, "a null model is not compiled"
    return CompilationState(model.state, bool(step.value % 2))


def ask_support(machine: ApiMachine, step: Step) -> None:
    """model_get_supported_operations_for_devices."""
    model = machine.models.find(step.object)
    if not machine.reaches("model_get_supported_operations_for_devices"):
        return
    devices, wrong = _devices(machine, step.value)
    if wrong and (model is None or model.is_lost):
        return
    rule = on(model, lambda state: _of_devices(state, wrong, "FW-MDL-028", "FW-MDL-028"))
    answer = machine.call("model_get_supported_operations_for_devices", rule, handle_of(model), devices, True)
    if answer is not None and answer.result == ResultCode.NO_ERROR and model is not None:
        count = len(model.state.operations)
        machine.right(len(answer.values), "number of answers about operations", count, "FW-MDL-027")


def set_of_compilation(machine: ApiMachine, step: Step) -> None:
    """The setters of compilations."""
    found = machine.compilations.find(step.object)
    preference, priority = _PREFERENCES[step.value % 4], _PRIORITIES[step.value % 4]
    function, argument, requirement, is_legal = (
        ("compilation_set_preference", preference, "FW-CMP-004", preference != 3),
        ("compilation_set_priority", priority, "FW-CMP-006", priority != 0),
        ("compilation_set_timeout", 3600 * _SECOND_NS * (step.value % 4 > 0), "FW-CMP-007", True),
    )[step.second % 3]
    of_one = function == "compilation_set_timeout"
    rule = on(found, lambda state: state.set(requirement, is_legal=is_legal, of_one_device=of_one))
    answer = machine.call(function, rule, handle_of(found), argument)
    if answer == ResultCode.NO_ERROR and found is not None:
        found.state.said[function.removeprefix("compilation_set_")] = argument


def set_caching(machine: ApiMachine, step: Step) -> None:
    """compilation_set_caching."""
    found = machine.compilations.find(step.object)
    folder, token = machine.app.cache_folder(), bytes([step.value // 4 % 3]) * BYTE_SIZE_OF_CACHE_TOKEN
    given: tuple[tuple[str | None, bytes | None], ...] = (
        (folder, token),
        (folder, token),
        (None, token),
        (folder, None),
    )
    chosen = given[step.value % 4]
    if None in chosen and (found is None or found.is_lost):
        return
    rule = on(found, lambda state: null() if None in chosen else state.set())
    machine.call("compilation_set_caching", rule, handle_of(found), *chosen)


def finish_compilation(machine: ApiMachine, step: Step) -> None:
    """compilation_finish, where the runtime can be expected to compile the model."""
    found = machine.compilations.find(step.object)
    if found is not None and not found.is_lost and _is_open(found.state) and not _has_cpu(machine):
        return  # a device need not support open shapes
    answer = machine.call("compilation_finish", on(found, lambda state: state.finish()), handle_of(found))
    if answer == ResultCode.NO_ERROR and machine.watched is not None and found is not None:
        machine.watched.judge_preparation(found.state.said)


def _is_open(state: CompilationState) -> bool:
    return "unknown" in state.model.operands


def _has_cpu(machine: ApiMachine) -> bool:
    """Whether one of the devices is the runtime's own CPU, which computes whatever is valid (FW-PRT-017)."""
    if not machine.reaches("device_get_name"):
        return True
    return bool(machine.app.call("device_get_name", machine.app.cpu(), True).value == CPU)


def ask_preferred(machine: ApiMachine, step: Step) -> None:
    """Alignment and padding that a compilation prefers."""
    found = machine.compilations.find(step.object)
    function, index = _PREFERRED[step.second % 4], (0, 0, 99)[step.value % 3]
    rule = on(found, lambda state: state.query(in_range=index == 0))
    answer = machine.call(function, rule, handle_of(found), index, True)
    if answer is not None and answer.result == ResultCode.NO_ERROR:
        is_power = answer.value > 0 and answer.value & (answer.value - 1) == 0
        machine.right(is_power, f"{function}: {answer.value} is a power of two", True, "FW-CMP-009")
