"""Models of the API while they are built (FW-MDL)."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.reference.runtime.app_memory import bytes_behind
from npu_conformance.reference.runtime.objects.draft import Draft, KeptPointer, PlacedValue
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.extensions import is_extension
from npu_conformance.reference.runtime.objects.finishing import finish
from npu_conformance.reference.runtime.objects.memory import MemoryObject
from npu_conformance.reference.runtime.objects.operands import (
    bad_data,
    bad_state,
    check_description,
    check_value_size,
    per_channel_parameters,
)
from npu_conformance.reference.runtime.objects.signatures import check_operation
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    LARGEST_COUNT,
    MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES,
)
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, PerChannelDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Operand, OperandExtraParams, Operation
from npu_conformance.specs.versions import NEWEST, Version

_TEMPORARY = OperandLifeTime.TEMPORARY_VARIABLE


class Model(Draft):
    """A model, to which parts can be added until it is finished."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.is_open = True

    def check_open(self) -> None:
        """Raise BAD_STATE once the model has been finished, well or not (FW-MDL-001, -025)."""
        if not self.is_open:
            raise bad_state("the model has been finished")

    def add_operand(self, described: OperandDescription) -> None:
        """ANeuralNetworksModel_addOperand."""
        self.check_open()
        check_description(described, self.environment.extensions, self._newest)
        if len(self.operands) >= LARGEST_COUNT:
            raise bad_data("there are too many operands")
        made = Operand(described.type, described.dimensions or (), described.scale, described.zero_point)
        self.operands.append(made)

    @property
    def _newest(self) -> Version:
        """The version by whose rules parts are added: from level 5 on the newest; finish looks at the level."""
        return NEWEST if self.environment.is_since_level_5 else self.environment.level

    def set_value(self, index: int, buffer: Pointer | None, length: int) -> None:
        """ANeuralNetworksModel_setOperandValue."""
        operand = self._operand(index)
        if buffer is None:
            self._set(index, OperandLifeTime.NO_VALUE)  # FW-MDL-014
            return
        check_value_size(operand, length, self.environment.extensions)
        if length > MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES:
            self._set(index, OperandLifeTime.CONSTANT_POOL, KeptPointer(buffer, length))
        else:
            content = bytes(bytes_behind(self.environment.pools, buffer, length))  # FW-MDL-015
            self._set(index, OperandLifeTime.CONSTANT_COPY, content)

    def set_value_from_memory(self, index: int, memory: MemoryObject, offset: int, length: int) -> None:
        """ANeuralNetworksModel_setOperandValueFromMemory."""
        operand = self._operand(index)
        check_value_size(operand, length, self.environment.extensions)
        memory.check_constant(offset, length)
        assert memory.memory is not None, "what can hold constants has bytes"
        self._set(index, OperandLifeTime.CONSTANT_POOL, PlacedValue(memory.memory, offset, length, memory))

    def set_value_from_model(self, index: int, value: Model) -> None:
        """ANeuralNetworksModel_setOperandValueFromModel. The states come before the index."""
        self.check_open()
        value.check_finished()
        self._operand(index)
        self._set(index, OperandLifeTime.SUBGRAPH, value)

    def set_channel_parameters(self, index: int, described: PerChannelDescription) -> None:
        """ANeuralNetworksModel_setOperandSymmPerChannelQuantParams."""
        operand = self._operand(index)
        extra = OperandExtraParams(channel_quant=per_channel_parameters(operand, described))
        self.operands[index] = replace(operand, extra_params=extra)

    def set_extension_data(self, index: int, data: Pointer | None, length: int) -> None:
        """ANeuralNetworksModel_setOperandExtensionData."""
        operand = self._operand(index)
        if not is_extension(operand.type):
            raise bad_data("the operand is not of an extension")
        if data is None:
            extra = None
        elif length == 0:
            raise bad_data("a pointer to no data")
        else:
            extra = OperandExtraParams(extension=bytes(bytes_behind(self.environment.pools, data, length)))
        self.operands[index] = replace(operand, extra_params=extra)

    def add_operation(self, code: int, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        """ANeuralNetworksModel_addOperation."""
        self.check_open()
        if self.environment.is_since_level_5 and not (inputs and outputs):
            raise bad_data("a list of operands is empty")
        operation = Operation(code, inputs, outputs)
        check_operation(self, operation, self._newest)
        if len(self.operations) >= LARGEST_COUNT:
            raise bad_data("there are too many operations")
        self.operations.append(operation)

    def identify(self, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        """ANeuralNetworksModel_identifyInputsAndOutputs. A graph of constants, such as a branch, has no inputs."""
        self.check_open()
        listed = (*inputs, *outputs)
        if len(set(listed)) != len(listed):
            raise bad_data("an operand is listed twice")  # FW-MDL-022
        if any(self._at(index).lifetime != _TEMPORARY for index in listed):
            raise bad_data("an input or output has a value, or is an input or output already")
        for indexes, lifetime in ((inputs, OperandLifeTime.SUBGRAPH_INPUT), (outputs, OperandLifeTime.SUBGRAPH_OUTPUT)):
            for index in indexes:
                self.operands[index] = replace(self.operands[index], lifetime=lifetime)
        self.inputs, self.outputs = inputs, outputs

    def relax(self, allow: bool) -> None:
        """ANeuralNetworksModel_relaxComputationFloat32toFloat16."""
        self.check_open()
        self.is_relaxed = allow

    def _operand(self, index: int) -> Operand:
        """The operand that a setter is about."""
        self.check_open()
        return self._at(index)

    def _at(self, index: int) -> Operand:
        if not 0 <= index < len(self.operands):
            raise bad_data(f"operand {index} of {len(self.operands)}")
        return self.operands[index]

    def _set(
        self, index: int, lifetime: OperandLifeTime, value: bytes | KeptPointer | PlacedValue | Draft | None = None
    ) -> None:
        self.operands[index] = replace(self.operands[index], lifetime=lifetime)
        self.values.pop(index, None)
        if value is not None:
            self.values[index] = value

    def finish(self) -> None:
        """ANeuralNetworksModel_finish. Where it fails the model is invalid for ever (FW-MDL-025)."""
        self.check_open()
        self.is_open = False
        self.finished = finish(self)
