"""The NNAPI C API: building of models."""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks.runtime.types import (
    Flags,
    Handle,
    Number,
    OperandDescription,
    PerChannelDescription,
    Pointer,
)
from npu_conformance.specs.versions import Version


class ModelFunctions(Interface):
    """ANeuralNetworksModel_*. Lists of operand indexes: None is a null pointer, empty a valid pointer with count 0."""

    @method()
    def model_create(self, model: bool) -> Handle:
        """Make an empty model."""
        raise refuse("Runtime.modelCreate")

    @method()
    def model_free(self, model: int) -> None:
        """Destroy a model; null is ignored. Objects made from it live on."""
        raise refuse("Runtime.modelFree")

    @method()
    def model_finish(self, model: int) -> int:
        """End the building; the model becomes valid, or invalid for ever."""
        raise refuse("Runtime.modelFinish")

    @method()
    def model_add_operand(self, model: int, type: OperandDescription | None) -> int:
        """Add an operand, whose index is the number of those before it."""
        raise refuse("Runtime.modelAddOperand")

    @method()
    def model_set_operand_value(self, model: int, index: int, buffer: Pointer | None, length: int) -> int:
        """Make an operand a constant. Null and 0: it is omitted. Above 128 bytes the pointer is kept until finish."""
        raise refuse("Runtime.modelSetOperandValue")

    @method(since=Version.V1_2)
    def model_set_operand_symm_per_channel_quant_params(
        self, model: int, index: int, channel_quant: PerChannelDescription | None
    ) -> int:
        """Set the scales of an operand that is quantised per channel."""
        raise refuse("Runtime.modelSetOperandSymmPerChannelQuantParams")

    @method()
    def model_set_operand_value_from_memory(self, model: int, index: int, memory: int, offset: int, length: int) -> int:
        """Make an operand a constant whose value lies in a memory object."""
        raise refuse("Runtime.modelSetOperandValueFromMemory")

    @method(since=Version.V1_3)
    def model_set_operand_value_from_model(self, model: int, index: int, value: int) -> int:
        """Make an operand refer to another, finished model."""
        raise refuse("Runtime.modelSetOperandValueFromModel")

    @method()
    def model_add_operation(
        self, model: int, type: int, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
    ) -> int:
        """Add an operation. The order of operations need not be topological."""
        raise refuse("Runtime.modelAddOperation")

    @method()
    def model_identify_inputs_and_outputs(
        self, model: int, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
    ) -> int:
        """Say which operands are inputs and outputs of the model."""
        raise refuse("Runtime.modelIdentifyInputsAndOutputs")

    @method(since=Version.V1_1)
    def model_relax_computation_float32_to_float16(self, model: int, allow: bool) -> int:
        """Allow float32 to be computed with the range and precision of float16."""
        raise refuse("Runtime.modelRelaxComputationFloat32toFloat16")

    @method(since=Version.V1_2)
    def model_get_supported_operations_for_devices(
        self, model: int, devices: tuple[int, ...] | None, supported_ops: bool
    ) -> Flags:
        """Which operations, in the order in which they were added, at least one of the devices supports."""
        raise refuse("Runtime.modelGetSupportedOperationsForDevices")

    @method(since=Version.V1_2)
    def model_get_extension_operand_type(
        self, model: int, extension_name: str | None, operand_code_within_extension: int, type: bool
    ) -> Number:
        """The code of an extension's operand type within this process."""
        raise refuse("Runtime.modelGetExtensionOperandType")

    @method(since=Version.V1_2)
    def model_get_extension_operation_type(
        self, model: int, extension_name: str | None, operation_code_within_extension: int, type: bool
    ) -> Number:
        """The code of an extension's operation within this process."""
        raise refuse("Runtime.modelGetExtensionOperationType")

    @method(since=Version.V1_2)
    def model_set_operand_extension_data(self, model: int, index: int, data: Pointer | None, length: int) -> int:
        """Set the extra parameters of an operand of an extension type; null and 0 clear them."""
        raise refuse("Runtime.modelSetOperandExtensionData")
