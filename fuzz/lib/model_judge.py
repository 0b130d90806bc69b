"""What a device must answer to any model whatever: the judgement of one fuzzed model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from npu_conformance.fuzz.lib.findings import Found, Kind, raised
from npu_conformance.fuzz.lib.minimal_execution import execute
from npu_conformance.fuzz.lib.model_class import ModelClass, classify, in_words
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import CaseEnded, Failed, NotApplicable, NotSupported
from npu_conformance.harness.run.preparation import Preparation, PreparationArguments, PreparationRecorder, prepare
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import InterfaceError, NotVisible, ServiceError, Unsupported
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel, documented_statuses
from npu_conformance.specs.neuralnetworks.types import Model

Result = TypeVar("Result")
NEUTRAL = PreparationArguments(preference=ExecutionPreference.FAST_SINGLE_ANSWER, priority=Priority.MEDIUM)
_MOST_OPERATIONS = 4
_MOST_OPERANDS = 6
"""How much of a model is looked at for what is new in it."""
_LISTS = ("operands", "operations", "input_indexes", "output_indexes")
_INVALID = frozenset({ErrorStatus.INVALID_ARGUMENT})


def judge(subject: SubjectHandle, model: Model, *, pools_are_real: bool = True) -> tuple[str, ...]:
    """Hand a model in wherever it can be, and execute it where it can be prepared; returns what was seen.

    pools_are_real: false where the model's pools name memory that does not exist, which a device may reject.
    Raises Found, Failed, Crashed, Hung.
    """
    found = classify(model, subject.version, pools_are_real=pools_are_real)
    device = subject.interfaces.device
    assert device is not None
    supported = _judge_support(subject, device, model, found)
    status, prepared = _judge_preparation(subject, device, model, found)
    ran = ""
    if prepared is not None:
        ran = guarded("the execution", lambda: execute(subject, model, prepared))
    return tuple(_seen(model, found, (supported, str(status), ran)))


def _seen(model: Model, found: ModelClass, answers: tuple[str, ...]) -> Iterator[str]:
    """What tells one model from others: clauses that it breaks, how large it is, and the answers for its operations."""
    words = " ".join(answers)
    yield words
    for name in _LISTS:
        yield f"{name} {len(getattr(model.main, name)).bit_length()} {words}"
    for clause in found.clauses:
        yield f"{clause} {words}"
    for graph in (model.main, *model.referenced):
        for part in graph.operations[:_MOST_OPERATIONS]:
            known = [graph.operands[index] for index in part.inputs if 0 <= index < len(graph.operands)]
            types = ",".join(str(operand.type) for operand in known[:_MOST_OPERANDS])
            yield f"{part.type} {types} {words}"
            yield f"{part.type} {','.join(str(len(operand.dimensions)) for operand in known[:_MOST_OPERANDS])} {words}"


def guarded(what: str, call: Callable[[], Result], *passing: type[Exception]) -> Result:
    """Return what the call returns; Failed where it raises what no interface has. Verdicts and `passing` go through.

    NotApplicable where what stands between cannot say it to the implementation at all, as the C API does; NotSupported
    where the implementation does not have the method.
    """
    try:
        return call()
    except CaseEnded:
        raise
    except NotVisible as error:
        raise NotApplicable(str(error)) from error
    except passing:
        raise
    except Unsupported as error:
        raise NotSupported(str(error)) from error
    except InterfaceError as error:
        raise Failed(f"{what}: expected an answer or an ErrorStatus, found {checks.format_error(error)}") from error
    except Exception as error:
        raise raised(what, error, "which no interface has") from error


def _judge_support(subject: SubjectHandle, device: Device, model: Model, found: ModelClass) -> str:
    """Judge the answer of getSupportedOperations; returns it as a word."""
    what = "getSupportedOperations"
    answers: Any = None
    status = int(ErrorStatus.NONE)
    try:
        answers = guarded(what, lambda: device.get_supported_operations(model), ServiceError)
    except ServiceError as error:
        status = error.status
    _judge_status(what, status, allowed(subject, Device, "get_supported_operations"), model, found)
    if status != ErrorStatus.NONE:
        return str(status)
    count = len(model.main.operations)
    is_right = len(answers) == count and all(isinstance(answer, bool) for answer in answers)
    checks.that(is_right, f"{what}: expected {count} booleans, one an operation, found {answers!r:.200}")
    return "all" if all(answers) else "some" if any(answers) else "none"


def allowed(subject: SubjectHandle, interface: type, method: str) -> Collection[int]:
    """The statuses that the method may answer at the subject's version (NNHAL-ERROR-006)."""
    return documented_statuses(describe(interface)[method].mark.statuses, subject.version)


def _judge_preparation(
    subject: SubjectHandle, device: Device, model: Model, found: ModelClass
) -> tuple[int | None, PreparedModel | None]:
    what = "prepareModel"
    recorder = PreparationRecorder()
    outcome = guarded(what, lambda: prepare(subject, device, model, NEUTRAL, recorder))
    statuses = allowed(subject, Device, "prepare_model")
    checks.status(outcome.launch_status, statuses, f"{what}, returned")
    checks.equal(len(recorder.answers), 1, f"{what}: number of notifications")
    _judge_status(f"{what}, notified", outcome.status, statuses, model, found)
    if found.must_reject:
        _must_be_invalid(outcome.launch_status, f"{what} of a model that breaks {found.reason}, returned", found)
    _judge_consistency(what, outcome)
    return outcome.status, outcome.prepared_model


def _judge_consistency(what: str, outcome: Preparation) -> None:
    if outcome.launch_status != ErrorStatus.NONE:
        checks.status(outcome.status, {outcome.launch_status}, f"{what}, notified after a failed launch")
    succeeded = outcome.status == ErrorStatus.NONE
    checks.equal(outcome.prepared_model is not None, succeeded, f"{what}: a prepared model is there")


def _judge_status(what: str, status: int | None, statuses: Collection[int], model: Model, found: ModelClass) -> None:
    checks.status(status, statuses, what)
    if found.must_reject:
        _must_be_invalid(status, f"{what} of a model that breaks {found.reason}", found)
    if found.is_valid and status == ErrorStatus.INVALID_ARGUMENT:
        raise Found("valid-refused", f"{what} of a valid model of {in_words(model)}: found INVALID_ARGUMENT", what)


def _must_be_invalid(status: int | None, what: str, found: ModelClass) -> None:
    try:
        checks.status(status, _INVALID, what)
    except Failed as failed:
        kind: Kind = "invalid-accepted" if status == ErrorStatus.NONE else "wrong-status"
        raise Found(kind, str(failed), found.clauses[0]) from None
