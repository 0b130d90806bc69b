"""ANeuralNetworksModel_*."""

from __future__ import annotations

from npu_conformance.reference.runtime.api_base import ApiBase
from npu_conformance.reference.runtime.calls import answer, code, not_null
from npu_conformance.reference.runtime.objects.memory import MemoryObject
from npu_conformance.reference.runtime.objects.model import Model
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.runtime.models import ModelFunctions
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import (
    Flags,
    Handle,
    Number,
    OperandDescription,
    PerChannelDescription,
    Pointer,
)

_OK = ResultCode.NO_ERROR


class ModelApi(ApiBase, ModelFunctions):
    """Building of models. What each function does is said in ModelFunctions."""

    def _model(self, handle: int) -> Model:
        return self.handles.get(Model, handle)

    @answer(Handle)
    def model_create(self, model: bool) -> Handle:
        """See ModelFunctions."""
        not_null(model)
        return Handle(_OK, self.handles.add(Model(self.environment)))

    def model_free(self, model: int) -> None:
        """See ModelFunctions."""
        self.handles.free(Model, model)

    @code
    def model_finish(self, model: int) -> None:
        """See ModelFunctions."""
        self._model(model).finish()

    @code
    def model_add_operand(self, model: int, type: OperandDescription | None) -> None:
        """See ModelFunctions."""
        not_null(model, type)
        assert type is not None
        self._model(model).add_operand(type)

    @code
    def model_set_operand_value(self, model: int, index: int, buffer: Pointer | None, length: int) -> None:
        """See ModelFunctions."""
        not_null(model, buffer or not length)
        self._model(model).set_value(index, buffer, length)

    @code
    def model_set_operand_symm_per_channel_quant_params(
        self, model: int, index: int, channel_quant: PerChannelDescription | None
    ) -> None:
        """See ModelFunctions."""
        not_null(model, channel_quant)
        assert channel_quant is not None
        self._model(model).set_channel_parameters(index, channel_quant)

    @code
    def model_set_operand_value_from_memory(
        self, model: int, index: int, memory: int, offset: int, length: int
    ) -> None:
        """See ModelFunctions."""
        not_null(model, memory)
        value = self.handles.get(MemoryObject, memory)
        self._model(model).set_value_from_memory(index, value, offset, length)

    @code
    def model_set_operand_value_from_model(self, model: int, index: int, value: int) -> None:
        """See ModelFunctions."""
        not_null(model, value)
        self._model(model).set_value_from_model(index, self._model(value))

    @code
    def model_add_operation(
        self, model: int, type: int, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
    ) -> None:
        """See ModelFunctions."""
        not_null(model, inputs, outputs)
        assert inputs is not None
        assert outputs is not None
        self._model(model).add_operation(type, inputs, outputs)

    @code
    def model_identify_inputs_and_outputs(
        self, model: int, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
    ) -> None:
        """See ModelFunctions."""
        not_null(model, inputs, outputs)
        assert inputs is not None
        assert outputs is not None
        self._model(model).identify(inputs, outputs)

    @code
    def model_relax_computation_float32_to_float16(self, model: int, allow: bool) -> None:
        """See ModelFunctions."""
        self._model(model).relax(allow)

    @answer(Flags)
    def model_get_supported_operations_for_devices(
        self, model: int, devices: tuple[int, ...] | None, supported_ops: bool
    ) -> Flags:
        """See ModelFunctions."""
        not_null(model, devices, supported_ops)
        if not devices:
            raise bad_data("there are no devices")
        finished = self._model(model).check_finished()
        supported = [False] * len(finished.order)
        for device in self.device_list(devices):
            for number, is_supported in zip(finished.order, device.supported_operations(finished.wire), strict=True):
                supported[number] |= is_supported
        return Flags(_OK, tuple(supported))

    @answer(Number)
    def model_get_extension_operand_type(
        self, model: int, extension_name: str | None, operand_code_within_extension: int, type: bool
    ) -> Number:
        """See ModelFunctions."""
        return self._extension_code(model, extension_name, operand_code_within_extension, type)

    @answer(Number)
    def model_get_extension_operation_type(
        self, model: int, extension_name: str | None, operation_code_within_extension: int, type: bool
    ) -> Number:
        """See ModelFunctions."""
        return self._extension_code(model, extension_name, operation_code_within_extension, type)

    def _extension_code(self, model: int, name: str | None, code_within_extension: int, out: bool) -> Number:
        not_null(model, name, out)
        assert name is not None
        self._model(model)
        return Number(_OK, self.environment.extensions.code(name, code_within_extension))

    @code
    def model_set_operand_extension_data(self, model: int, index: int, data: Pointer | None, length: int) -> None:
        """See ModelFunctions."""
        not_null(model, data or not length)
        self._model(model).set_extension_data(index, data, length)
