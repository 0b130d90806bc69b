"""What must be rejected: at once where the model breaks a structural rule, else at execution at the latest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import RunningCase
from npu_conformance.harness.judge.origin import is_of_plugin
from npu_conformance.harness.judge.refusals import judge_taken
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung, NotSupported, Refused
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import request_of, timing_rules
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, prepare
from npu_conformance.specs.errors import InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Model, Request
from npu_conformance.specs.neuralnetworks.validate import validate_model, validate_request
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.support import supports

REJECTION = ("NNHAL-SUPPORT-003", "NNHAL-PREPARE-001", "NNHAL-PREPARE-002", "NNHAL-PREPARE-018", "NNHAL-ERROR-005")
"""What the rejection of an invalid model is evidence for, whatever is wrong with the model."""
NEUTRAL = PreparationArguments()
_REJECTED_AS_INVALID = "a rejection: INVALID_ARGUMENT"
_ANY_REJECTION = "a rejection: any status but NONE"


@contextmanager
def asked_by_text_alone(context: RunningCase, *, when: bool = True) -> Iterator[None]:
    """Inside, a failure is a quality warning: documents ask for it, AOSP's own drivers and tests do not.

    when: false where it is a failure all the same.
    """
    try:
        yield
    except Refused:
        raise
    except Failed as failure:
        if not when:
            raise
        context.warn_quality(f"{failure}; only the documents ask for it")


@contextmanager
def _expecting(rejection: str) -> Iterator[None]:
    """Inside, an exception of the plug-in's own, or an error of the wire, ends with what was expected in its place."""
    try:
        yield
    except Exception as error:
        if isinstance(error, Refused):
            error.expected, error.found = rejection, "an exception" if error.traceback else f"error {error.code}"
        if isinstance(error, Refused) or is_of_plugin(error):
            error.add_note(f"expected {rejection}")
        raise


def telling_what_is_invalid(violations: Callable[[], Sequence[Violation]]) -> AbstractContextManager[None]:
    """Inside, a failure ends with the validator's sentence on the first broken rule; with several, how many more."""

    def reword(message: str) -> str:
        found = violations()  # asked for only now: nearly all cases pass
        if not found:
            return message
        first, *others = found
        more = f", and {len(others)} more" if others else ""
        return f"{message}; what is invalid: {first.message} ({first.clause}{more})"

    return checks.reworded(reword)


def expect_vector_rejected(context: CaseContext, vector: Vector) -> None:
    """See a device reject a vector that it must reject. An operation that is not supported proves nothing."""
    model = build_model(vector, context.version).model
    if vector.rejected is not None and vector.rejected.phase == "model":
        expect_rejected_at_prepare(context, model)
        return
    with telling_what_is_invalid(lambda: validate_model(model, context.version)), _expecting(_ANY_REJECTION):
        prepared_model = _prepared_or_rejected(context, vector, model)
        for example in vector.examples or (Example({}, {}),):
            if prepared_model is not None:
                _expect_execution_rejected(context, vector, example, prepared_model)


def expect_rejected_at_prepare(context: CaseContext, model: Model) -> None:
    """The model is rejected with INVALID_ARGUMENT wherever it can be handed in (`REJECTION`).

    Where only one of the calls lets it through, that is what is broken, and not what is wrong with the model.
    """
    with telling_what_is_invalid(lambda: validate_model(model, context.version)), _expecting(_REJECTED_AS_INVALID):
        _expect_support_refused(context, model)
        with checks.about("NNHAL-PREPARE-001"):
            expect_preparation_rejected(context, model)


def _expect_support_refused(context: CaseContext, model: Model) -> None:
    call = "getSupportedOperations of the invalid model"
    try:
        answers = context.device.get_supported_operations(model)
    except ServiceError as error:
        rejected_as_invalid(error.status, call)
    else:
        with checks.about(*(("NNHAL-SUPPORT-003",) if _rejects(context, model) else ())):
            checks.fail(call, ErrorStatus.INVALID_ARGUMENT.name, f"success with {checks.format_value(answers)}")


def rejected_as_invalid(status: int | None, what: str) -> None:
    """Fail unless a rejection says INVALID_ARGUMENT: any other failure names the wrong reason."""
    with checks.about(*(("NNHAL-ERROR-005",) if status not in (None, ErrorStatus.NONE) else ())):
        checks.status(status, {ErrorStatus.INVALID_ARGUMENT}, what)


def _rejects(context: CaseContext, model: Model) -> bool:
    """True where prepareModel does not take the model; one that cannot even be asked takes it."""
    try:
        return context.prepare(model).launch_status == ErrorStatus.INVALID_ARGUMENT
    except (Crashed, Hung):
        raise
    except (CaseEnded, InterfaceError):
        return False


def expect_preparation_rejected(
    context: CaseContext, model: Model, arguments: PreparationArguments = NEUTRAL, *, what: str = "the invalid model"
) -> None:
    """prepareModel returns and notifies INVALID_ARGUMENT, without a prepared model (NNHAL-PREPARE-001, -002).

    So does prepareModelWithConfig, where there is one (NNHAL-PREPARE-018). arguments: besides the model.
    """
    for with_config in (False, True) if context.version >= Version.FL8 else (False,):
        given = replace(arguments, with_config=with_config, hints=arguments.hints if with_config else ())
        preparation = prepare(context.subject, context.device, model, given, PreparationRecorder())
        call = f"prepareModel{'WithConfig' if with_config else ''} of {what}"
        with checks.about(*(("NNHAL-PREPARE-018",) if with_config else ())):
            rejected_as_invalid(preparation.launch_status, f"{call}, returned")
        with checks.about("NNHAL-PREPARE-002"):
            checks.status(preparation.status, {ErrorStatus.INVALID_ARGUMENT}, f"{call}, notified")
            checks.that(preparation.prepared_model is None, f"{call}: expected no prepared model, found one")


def expect_request_rejected(
    context: CaseContext, prepared_model: PreparedModel, model: Model, request: Request, executor: str, *, measure: bool
) -> None:
    """The request is rejected with INVALID_ARGUMENT, without shapes or times (NNHAL-REQUEST-017).

    model: that of the prepared model; a failure says by it what is wrong with the request.
    """
    with _expecting(_REJECTED_AS_INVALID):
        execution = execute(context, prepared_model, request, measure=measure, executor=executor)
    fenced = executor not in executors(context.version, finding_shapes=True)

    def violations() -> Sequence[Violation]:
        return validate_request(request, model, context.version, fenced=fenced, text_rules=True)

    with telling_what_is_invalid(violations):
        rejected_as_invalid(execution.status, f"{executor} execution of the invalid request")
        with checks.about("NNHAL-REQUEST-017"):
            checks.equal(execution.output_shapes, (), "output shapes of the rejected request")
        timing_rules(context, execution, measured=measure)


def _prepared_or_rejected(context: CaseContext, vector: Vector, model: Model) -> PreparedModel | None:
    try:
        supported = all(context.supported_operations(model, is_valid=False))
    except ServiceError as error:
        rejected_as_invalid(error.status, "getSupportedOperations of the invalid model")
        with checks.about("NNHAL-PREPARE-001"):
            expect_preparation_rejected(context, model)
        _warn_of_aosp(context, vector)
        return None
    preparation = context.prepare(model)
    if preparation.launch_status != ErrorStatus.NONE:
        _warn_of_aosp(context, vector)
    says_why = preparation.status == ErrorStatus.INVALID_ARGUMENT
    if preparation.prepared_model is None and not (supported or says_why):
        _require_support(context, vector)
    return preparation.prepared_model


def _warn_of_aosp(context: CaseContext, vector: Vector) -> None:
    """Say what AOSP's VTS asks for: that an IF without its condition is taken, and fails when it runs."""
    branches = [(graph, one) for graph in vector.graphs for one in graph.operations if one.type == "IF"]
    if any(graph.operands[one.inputs[0]].omitted for graph, one in branches):
        context.warn_quality(
            "an IF whose condition is omitted is refused before it is executed, as the documents say; AOSP's VTS would"
            " fail: it accepts NONE from getSupportedOperations and the launch of prepareModel, and a failing execution"
        )


def _require_support(context: CaseContext, vector: Vector) -> None:
    """Raise NotSupported unless the device supports the operation in a valid model, so that it is this one it rejects.

    That one has the same types, where there is such a one.
    """
    boundary = {vector.operands[name].type.name for name in (*vector.inputs, *vector.outputs)}
    valid = [
        header
        for header in vectors.headers(vector.operation)
        if header.rejected is None and header.since <= context.version and header.operations == (vector.operation,)
    ]
    valid.sort(key=lambda header: set(header.types) != boundary)
    if not valid or not supports(context, vectors.load(vector.operation, valid[0].name)):
        types = ", ".join(sorted(valid[0].types if valid else boundary))
        raise NotSupported(f"{vector.operation} of {types} is not supported, so that a rejection proves nothing")


def _expect_execution_rejected(
    context: CaseContext, vector: Vector, example: Example, prepared_model: PreparedModel
) -> None:
    request = request_of(context, build_request(vector, example, context.version))
    execution = execute(context, prepared_model, request, measure=False)
    if execution.status == ErrorStatus.NONE:
        judge_taken(context, vector, "the device")
