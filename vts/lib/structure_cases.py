"""The case of a model that breaks a structural rule, or just does not: what each kind of row expects of a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NoRoom
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.vts.lib import aosp_verdict
from npu_conformance.vts.lib.preparing import is_launched
from npu_conformance.vts.lib.rejection import (
    REJECTION,
    asked_by_text_alone,
    expect_preparation_rejected,
    expect_rejected_at_prepare,
)
from npu_conformance.vts.lib.structure_models import SIZE, Row

_MAPPING = ("X2", "X5")
"""The rules about the mapping of extensions, at which HIDL drivers of AOSP's do not look."""


def cases_of(rows: Iterable[Row]) -> Iterator[Case]:
    """One case for each model."""
    return map(_case, rows)


def _case(row: Row) -> Case:
    def run(context: CaseContext) -> None:
        model = row.model if isinstance(row.model, Model) else row.model(context.pool(SIZE).memory)
        if row.text:
            rejected_or_answered(context, model)
        elif row.sound:
            answered(context, model)
        else:
            text_alone = asked_by_text_alone(context, when=row.rule in _MAPPING and not context.version.is_aidl)
            with text_alone, aosp_verdict.with_aosp_verdict(aosp_verdict.verdict_for_rule(row.rule)):
                expect_rejected_at_prepare(context, model)

    rejection = () if row.sound or row.text else REJECTION
    return Case(
        f"vts.structure.{row.rule}.{row.verb}_{row.name}",
        run,
        (*(f"NNHAL-{name}" for name in row.requirements), *rejection),
        f"MODEL.{row.rule}: a device {row.verb.replace('_', ' ')} {row.name.replace('_', ' ')}.",
        since=row.since,
        until=row.until,
        group=Group.VALIDATION,
    )


def answered(context: CaseContext, model: Model, *, is_sound: bool = True) -> None:
    """The model is taken for valid: an answer for each operation, and a launched preparation, whatever it ends in.

    is_sound: no document forbids the model; where all of it is supported the preparation succeeds (NNHAL-SUPPORT-005).
    """
    answers = checks.works(lambda: context.supported_operations(model), "getSupportedOperations of a valid model")
    preparation = context.prepare(model)
    is_launched(preparation)
    if is_sound and answers and all(answers):
        try:
            model_of(preparation)
        except NoRoom as error:
            context.warn_quality(error.warning or str(error))
    has_model = preparation.prepared_model is not None
    with checks.about("NNHAL-PREPARE-007"):
        succeeded = preparation.status == ErrorStatus.NONE
        checks.equal(has_model, succeeded, "prepareModel of a valid model: a prepared model")


def rejected_or_answered(context: CaseContext, model: Model) -> None:
    """The model is rejected like an invalid one, or answered like a valid one, by both calls alike."""
    try:
        context.supported_operations(model)
    except ServiceError as error:
        checks.status(error.status, {ErrorStatus.INVALID_ARGUMENT}, "getSupportedOperations of the doubtful model")
        expect_preparation_rejected(context, model)
        return
    answered(context, model, is_sound=False)
    context.warn_quality("the device takes a model that the interface text forbids; AOSP's VTS does not look at it")
