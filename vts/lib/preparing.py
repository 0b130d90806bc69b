"""Prepares models; what a device says that it does not support is NotSupported, and named."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.constant_layouts import COPIED
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import Preparation, model_of, needs_room
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.model_text import operand_type_name, operation_name
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.vts.lib.constant_pools import PooledConstants
from npu_conformance.vts.lib.support import support


def prepared(
    context: CaseContext,
    vector: Vector,
    *,
    unspecified: bool = False,
    unranked: bool = False,
    constants: PooledConstants | None = None,
) -> PreparedModel:
    """Prepare the vector's model. NotSupported where the device said before that it does not support it all.

    unspecified: sizes of outputs are unknown; unranked: also their ranks. constants: None for copied into the model.
    """
    model = build_model(
        vector,
        context.version,
        create_pool=constants.create if constants else None,
        constants=constants.layout if constants else COPIED,
        reserved=constants.reserved if constants else 0,
        unspecified_outputs=unspecified,
        unranked_outputs=unranked,
    ).model
    supported = support(context, model)
    if supported is None:
        raise NotSupported("the device rejects graphs without inputs")
    preparation = context.prepare(model)
    is_launched(preparation)
    if preparation.status != ErrorStatus.NONE:
        with checks.about("NNHAL-PREPARE-007"):
            checks.that(preparation.prepared_model is None, "a failed preparation notified a prepared model")
        if not all(supported):
            pairs = zip(vector.operations, supported, strict=True)
            names = sorted({operation.type for operation, is_supported in pairs if not is_supported})
            open_sizes = " with outputs of unknown size" if unspecified or unranked else ""
            raise NotSupported(f"not supported: {' '.join(names)}{open_sizes}")
    return model_of(preparation)


def is_launched(preparation: Preparation) -> None:
    """See that the preparation of a valid model was launched; NoRoom where that was refused for other models."""
    if preparation.launch_status != ErrorStatus.NONE and preparation.others:
        needs_room(preparation)
    with checks.about("NNHAL-PREPARE-004"):
        checks.status(preparation.launch_status, {ErrorStatus.NONE}, "prepareModel of a valid model, returned")


def prepared_or_unsupported(context: CaseContext, model: Model) -> PreparedModel:
    """Prepare a model. NotSupported where the device said before that it does not support all of its operations."""
    supported = context.supported_operations(model)
    preparation = context.prepare(model)
    if preparation.prepared_model is not None:
        return preparation.prepared_model
    if all(supported):
        model_of(preparation, "prepareModel of a supported model, notified")
    where = " with a constant in a pool" if model.pools else ""
    raise NotSupported(f"not supported: {', '.join(_unsupported(model, supported))}{where}")


def _unsupported(model: Model, supported: Sequence[bool]) -> list[str]:
    """The operations that are not supported, each with the type of its first operand."""
    operands = model.main.operands
    named = {
        f"{operation_name(operation.type)} of {operand_type_name(operands[operation.inputs[0]].type)}"
        for operation, is_supported in zip(model.main.operations, supported, strict=True)
        if not is_supported
    }
    return sorted(named)
