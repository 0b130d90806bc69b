"""ANeuralNetworksModel_*, called in the library."""

from __future__ import annotations

from npu_conformance.adapters.nnapi_c.arguments import Written, numbers, operand_type, per_channel, text
from npu_conformance.adapters.nnapi_c.caller import Caller
from npu_conformance.specs.neuralnetworks.runtime.models import ModelFunctions
from npu_conformance.specs.neuralnetworks.runtime.types import (
    Flags,
    Handle,
    Number,
    OperandDescription,
    PerChannelDescription,
    Pointer,
)

_SPARE_ANSWERS = 64
"""Room behind the answers about operations, so that one who writes too many is seen, and harms nobody."""


class Models(Caller, ModelFunctions):
    """See ModelFunctions: every method calls the C function of its name, and does nothing else."""

    def model_create(self, model: bool) -> Handle:
        handle = Written("Handle", model)
        made = Handle(self._call("model_create", handle), handle.value())
        self._begin(made.handle)
        self._operations[made.handle] = 0
        return made

    def model_free(self, model: int) -> None:
        self._call("model_free", model)
        self._end(model)
        self._operations.pop(model, None)

    def model_finish(self, model: int) -> int:
        return int(self._call("model_finish", model))

    def model_add_operand(self, model: int, type: OperandDescription | None) -> int:
        return int(self._call("model_add_operand", model, operand_type(type)))

    def model_set_operand_value(self, model: int, index: int, buffer: Pointer | None, length: int) -> int:
        return int(self._call("model_set_operand_value", model, index, self._address(model, buffer), length))

    def model_set_operand_symm_per_channel_quant_params(
        self, model: int, index: int, channel_quant: PerChannelDescription | None
    ) -> int:
        quant = per_channel(channel_quant)
        return int(self._call("model_set_operand_symm_per_channel_quant_params", model, index, quant))

    def model_set_operand_value_from_memory(self, model: int, index: int, memory: int, offset: int, length: int) -> int:
        return int(self._call("model_set_operand_value_from_memory", model, index, memory, offset, length))

    def model_set_operand_value_from_model(self, model: int, index: int, value: int) -> int:
        return int(self._call("model_set_operand_value_from_model", model, index, value))

    def model_add_operation(
        self, model: int, type: int, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
    ) -> int:
        self._operations[model] = self._operations.get(model, 0) + 1  # room for the answers about them
        lists = len(inputs or ()), numbers(inputs), len(outputs or ()), numbers(outputs)
        return int(self._call("model_add_operation", model, type, *lists))

    def model_identify_inputs_and_outputs(
        self, model: int, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
    ) -> int:
        lists = len(inputs or ()), numbers(inputs), len(outputs or ()), numbers(outputs)
        return int(self._call("model_identify_inputs_and_outputs", model, *lists))

    def model_relax_computation_float32_to_float16(self, model: int, allow: bool) -> int:
        return int(self._call("model_relax_computation_float32_to_float16", model, allow))

    def model_get_supported_operations_for_devices(
        self, model: int, devices: tuple[int, ...] | None, supported_ops: bool
    ) -> Flags:
        room = self._operations.get(model, 0) + _SPARE_ANSWERS
        answers = Written("uint8_t", supported_ops, room)
        chosen = numbers(devices, "Handle"), len(devices or ())
        result = self._call("model_get_supported_operations_for_devices", model, *chosen, answers)
        return Flags(result, tuple(map(bool, answers.values())))

    def model_get_extension_operand_type(
        self, model: int, extension_name: str | None, operand_code_within_extension: int, type: bool
    ) -> Number:
        found = Written("int32_t", type)
        arguments = model, text(extension_name), operand_code_within_extension, found
        return Number(self._call("model_get_extension_operand_type", *arguments), found.value())

    def model_get_extension_operation_type(
        self, model: int, extension_name: str | None, operation_code_within_extension: int, type: bool
    ) -> Number:
        found = Written("int32_t", type)
        arguments = model, text(extension_name), operation_code_within_extension, found
        return Number(self._call("model_get_extension_operation_type", *arguments), found.value())

    def model_set_operand_extension_data(self, model: int, index: int, data: Pointer | None, length: int) -> int:
        return int(self._call("model_set_operand_extension_data", model, index, self._address(model, data), length))
