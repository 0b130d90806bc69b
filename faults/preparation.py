"""Faults in getSupportedOperations, and in preparing models."""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.choosy_devices import ChoosyDevice
from npu_conformance.faults.factories import IMPATIENT, fault, faulty_device
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Claim
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.versions import Version

_NONE, _INVALID, _GENERAL = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE


class _OneAnswerTooFew(FaultyDevice):
    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return self.inner.get_supported_operations(model)[1:]


class _NoFloat16(FaultyDevice):
    """Supports no TENSOR_FLOAT16, and reports that."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        return (False,) * len(answers) if _has_float16(model) else answers

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if prepared_model is not None and _has_float16(prepared_model.model):
            status, prepared_model = _GENERAL, None
        super().prepared(callback, status, prepared_model)


def _has_float16(model: types.Model) -> bool:
    return any(operand.type == OperandType.TENSOR_FLOAT16 for operand in model.main.operands)


class _ClaimsEverything(_NoFloat16):
    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return (True,) * len(super().get_supported_operations(model))


class _SupportsTheInvalid(FaultyDevice):
    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        try:
            return self.inner.get_supported_operations(model)
        except ServiceError:
            return (False,) * len(model.main.operations)


class _SupportFails(_NoFloat16):
    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = super().get_supported_operations(model)
        if not all(answers):
            raise ServiceError(_GENERAL, "not supported")
        return answers


class _SupportedButRefused(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        softmax = prepared_model is not None and any(
            operation.type == OperationType.SOFTMAX for operation in prepared_model.model.main.operations
        )
        super().prepared(callback, _GENERAL if softmax else status, None if softmax else prepared_model)


class _HasNoRoom(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        status = status if prepared_model is None else ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT
        super().prepared(callback, status, None)


class _NotifiesTwice(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        super().prepared(callback, status, prepared_model)
        super().prepared(callback, status, prepared_model)


class _NeverNotifies(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        pass


class _NoModel(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        super().prepared(callback, status, None)


class _ModelOfAFailure(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        callback.notify(status, prepared_model or FaultyPreparedModel(hal.PreparedModel()))


class _ModelOfTheUnsupported(_NoFloat16):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        unsupported = prepared_model is not None and _has_float16(prepared_model.model)
        callback.notify(_GENERAL if unsupported else status, prepared_model)


class _LaunchesTheInvalid(FaultyDevice):
    def prepare_model(self, *arguments: Any) -> None:
        try:
            super().prepare_model(*arguments)
        except ServiceError:
            return


class _ConfigLaunchesTheInvalid(FaultyDevice):
    def prepare_model_with_config(self, *arguments: Any) -> None:
        try:
            super().prepare_model_with_config(*arguments)
        except ServiceError:
            return


class _ConfigWithoutCallback(FaultyDevice):
    def prepare_model_with_config(self, model: types.Model, config: types.PrepareModelConfig, callback: Any) -> None:
        if callback is not None:
            super().prepare_model_with_config(model, config, callback)


class _DoesNotNotifyRefusals(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if status == _NONE:
            super().prepared(callback, status, prepared_model)


class _NotifiesAnotherError(FaultyDevice):
    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        super().prepared(callback, _GENERAL if status == _INVALID else status, prepared_model)


class _SaysGeneralFailure(_NotifiesAnotherError):
    def prepare_model(self, *arguments: Any) -> None:
        try:
            super().prepare_model(*arguments)
        except ServiceError as error:
            raise ServiceError(_GENERAL if error.status == _INVALID else error.status, str(error)) from None


class _LaunchesNothingUnsupported(_NoFloat16):
    """Returns to the caller at once what only the callback is to receive."""

    def prepare_model(self, model: types.Model, *rest: Any) -> None:
        super().prepare_model(model, *rest)
        if not all(self.get_supported_operations(model)):
            raise ServiceError(_GENERAL, "not supported")


class _RefusesVectors(ChoosyDevice):
    """Supports no addition whose first input has one dimension."""

    def supports(self, main: types.Subgraph, operation: types.Operation) -> bool:
        return operation.type != OperationType.ADD or len(main.operands[operation.inputs[0]].dimensions) != 1


_CLAIMED = Claim(operations=("ADD",), types=("TENSOR_FLOAT32",), ranks=(1, 4))


_ANY = "vts.generated.RELU.float32_*"

FAULTS = (
    fault("support-one-too-few", "getSupportedOperations gives an answer too few.", "NNHAL-SUPPORT-001", _ANY,
          _OneAnswerTooFew),
    fault("support-claims-everything", "Every operation is said to be supported.", "NNHAL-SUPPORT-004",
          "vts.generated.RELU.float16_*", _ClaimsEverything),
    fault("support-of-the-invalid", "getSupportedOperations answers for an invalid model.", "NNHAL-SUPPORT-003",
          "vts.validation.ADD.* vts.validation.model.*", _SupportsTheInvalid),
    fault("support-claimed-but-refused", "Additions of vectors, which the manifest claims, are refused.",
          "NNHAL-OPERATION-ADD-RESULT", "vts.generated.ADD.float32_negative_zeros vts.models.*",
          faulty_device(_RefusesVectors, claims=(_CLAIMED,))),
    fault("support-fails-for-unsupported", "getSupportedOperations fails where it means no.", "NNHAL-SUPPORT-002",
          "vts.generated.RELU.float16_*", _SupportFails),
    fault("supported-but-refused", "A model with SOFTMAX is said to be supported, and not prepared.",
          "NNHAL-SUPPORT-005", "vts.generated.SOFTMAX.float32_*", _SupportedButRefused),
    fault("supported-without-room", "What is said to be supported is refused, as there is no room for any model.",
          "NNHAL-SUPPORT-004", "vts.generated.RELU.float32_* vts.robustness.models.many", _HasNoRoom,
          detected_as="quality-warning"),
    fault("prepare-notifies-twice", "The preparation callback is called twice.", "NNHAL-PREPARE-005", _ANY,
          _NotifiesTwice),
    fault("prepare-never-notifies", "The preparation callback is never called.", "NNHAL-PREPARE-005",
          "vts.generated.RELU.float32_rank2", faulty_device(_NeverNotifies, deadlines=IMPATIENT)),
    fault("prepare-without-model", "A successful preparation gives no model.", "NNHAL-PREPARE-007", _ANY, _NoModel),
    fault("prepare-model-of-a-failure", "A failed preparation gives a model.", "NNHAL-PREPARE-007",
          "vts.validation.RELU.*", _ModelOfAFailure),
    fault("prepare-model-of-the-unsupported", "A model that is not supported is given all the same.",
          "NNHAL-PREPARE-007", "vts.generated.RELU.float16_*", _ModelOfTheUnsupported),
    fault("prepare-launches-the-invalid", "An argument error is notified, but not returned.", "NNHAL-PREPARE-002",
          "vts.validation.RELU.* vts.validation.arguments.*", _LaunchesTheInvalid),
    fault("prepare-config-launches-the-invalid", "prepareModelWithConfig notifies an argument error and returns none.",
          "NNHAL-PREPARE-018", "vts.validation.RELU.operand_type vts.validation.arguments.*",
          _ConfigLaunchesTheInvalid),
    fault("prepare-config-without-callback", "prepareModelWithConfig does nothing where nobody would be notified.",
          "NNHAL-PREPARE-022", "vts.models.config.callback_null", _ConfigWithoutCallback),
    fault("prepare-does-not-notify-refusals", "An argument error is returned, but not notified.",
          "NNHAL-PREPARE-002", "vts.validation.model.cycle", _DoesNotNotifyRefusals),
    fault("prepare-notifies-another-error", "INVALID_ARGUMENT is returned, GENERAL_FAILURE notified.",
          "NNHAL-PREPARE-002", "vts.validation.RELU.*", _NotifiesAnotherError),
    fault("prepare-general-failure", "Argument errors are GENERAL_FAILURE.", "NNHAL-PREPARE-002 NNHAL-ERROR-008",
          "vts.validation.RELU.* vts.validation.arguments.*", _SaysGeneralFailure),
    fault("prepare-refuses-to-launch", "An unsupported model is not launched.", "NNHAL-PREPARE-004",
          "vts.generated.RELU.float16_*", _LaunchesNothingUnsupported),
    fault("later-version-accepted", "A 1.1 driver judges models by the rules of 1.3.",
          "NNHAL-MODEL-040", "vts.generated.*until_1_1 vts.generated.*before_1_2",
          faulty_device(FaultyDevice, plays=Version.V1_3), Version.V1_1),
)  # fmt: skip
"""Faults before the first execution."""
