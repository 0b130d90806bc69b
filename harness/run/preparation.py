"""Prepares a model, also from a cache, and waits for the answer; what a case does not care about is neutral."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed, Hung, NoRoom
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.living import MODELS
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, ErrorStatus, ExecutionPreference, Priority, busy
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel, PreparedModelCallback
from npu_conformance.specs.neuralnetworks.types import (
    NO_DEADLINE,
    CacheHandle,
    ExtensionNameAndPrefix,
    Model,
    PrepareModelConfig,
    TokenValuePair,
)

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

NO_TOKEN = bytes(32)
NO_ROOM = (
    "the device says that it supports a model for which it has no room: any doubt is to be reported as not supported "
    "(NNHAL-SUPPORT-004)"
)
"""The quality warning about a model that was refused for its size when it was prepared."""
_REFUSAL_SECONDS = 1.0
"""A rejection is notified before prepareModel returns (NNHAL-PREPARE-002): it needs no wait as long as for a model."""


class PreparationRecorder(PreparedModelCallback):
    """A callback that keeps every answer it gets; the model of the first until `take_first`."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, PreparedModel | None]] = []

    def notify(self, status: int, prepared_model: PreparedModel | None) -> None:
        """Keep the answer."""
        self.answers.append((status, prepared_model))

    def take_first(self) -> tuple[int, PreparedModel | None]:
        """The first answer, whose model is kept here no longer: a driver may hold its callback for ever."""
        first = self.answers[0]
        self.answers[0] = (first[0], None)
        return first


class Preparation(msgspec.Struct, frozen=True):
    """The outcome of prepareModel or prepareModelFromCache.

    launch_status: what the call returned. status: the first that the callback received; None where it received none (a
    launch that failed without a notification). recorder: everything that the callback received. others: how many
    prepared models this process has beside it. is_short: whether the status may be that of a want of resources, and the
    launch says no other. warning: how such a status says less than another one would. has_fitted: the subject had room
    for such a model before, or for this one when it was saved.
    """

    launch_status: int
    status: int | None
    prepared_model: PreparedModel | None
    recorder: PreparationRecorder
    others: int = 0
    is_short: bool = False
    has_fitted: bool = False
    warning: str = ""


def model_of(preparation: Preparation, what: str = "prepareModel of a supported model, notified") -> PreparedModel:
    """The model of a preparation that must succeed, since the device said that it supports every operation.

    NoRoom as of `needs_room`.
    """
    needs_room(preparation)
    with checks.about("NNHAL-SUPPORT-005", "NNHAL-SUPPORT-004"):
        checks.status(preparation.status, {ErrorStatus.NONE}, what)
    if preparation.prepared_model is None:
        with checks.about("NNHAL-PREPARE-007"):
            checks.fail(what, "a prepared model", "null")
    return preparation.prepared_model


def needs_room(preparation: Preparation) -> None:
    """NoRoom where there is none for a supported model, as there need not be (NNHAL-SUPPORT-005).

    Where it has other models it may say so in any status of a busy device, in the launch as well (NNHAL-PREPARE-006).
    Since 1.3 it may say that it has no room for one model alone, which it could have known before it said that it
    supports it; but not where it has had room for such a model, so that those that are released keep it.
    """
    if preparation.others and preparation.is_short:
        beside = f"the device has no room for one more prepared model beside {preparation.others}"
        raise NoRoom(beside, preparation.warning)
    if preparation.is_short and preparation.status in EXHAUSTED and not preparation.has_fitted:
        raise NoRoom("the device has no room for the model", NO_ROOM)


class PreparationArguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of prepareModel besides the model. deadline_ns: -1 for none. token: 32 bytes.

    with_config: prepareModelWithConfig is called, with hints and the prefixes of their extensions.
    prepareModelFromCache has them too, but for preference and priority, which are in the cache.
    """

    preference: int = ExecutionPreference.FAST_SINGLE_ANSWER
    priority: int = Priority.MEDIUM
    deadline_ns: int = NO_DEADLINE
    model_cache: tuple[CacheHandle, ...] = ()
    data_cache: tuple[CacheHandle, ...] = ()
    token: bytes = NO_TOKEN
    with_config: bool = False
    hints: tuple[TokenValuePair, ...] = ()
    extensions: tuple[ExtensionNameAndPrefix, ...] = ()

    @property
    def config(self) -> PrepareModelConfig:
        """The arguments in the form of prepareModelWithConfig."""
        return PrepareModelConfig(
            self.preference,
            self.priority,
            self.deadline_ns,
            self.model_cache,
            self.data_cache,
            self.token,
            self.hints,
            self.extensions,
        )


def prepare(
    subject: SubjectHandle,
    device: Device,
    model: Model,
    arguments: PreparationArguments,
    recorder: PreparationRecorder,
) -> Preparation:
    """Launch a preparation and wait for its answer.

    Raises Hung where it is never notified, Failed where it is twice.
    """

    def launch() -> None:
        if arguments.with_config:
            device.prepare_model_with_config(model, arguments.config, recorder)
            return
        device.prepare_model(
            model,
            arguments.preference,
            arguments.priority,
            arguments.deadline_ns,
            arguments.model_cache,
            arguments.data_cache,
            arguments.token,
            recorder,
        )

    method = "prepareModelWithConfig" if arguments.with_config else "prepareModel"
    launch_status = _launch_status(launch)
    with checks.about("NNHAL-PREPARE-005"):
        answer = _answer(subject, method, launch_status, recorder)
    return replace(answer, has_fitted=_has_fitted(subject, model, answer))


def prepare_from_cache(
    subject: SubjectHandle, device: Device, arguments: PreparationArguments, recorder: PreparationRecorder
) -> Preparation:
    """Do as `prepare` does, by prepareModelFromCache with the cache files of the arguments."""

    def launch() -> None:
        device.prepare_model_from_cache(
            arguments.deadline_ns, arguments.model_cache, arguments.data_cache, arguments.token, recorder
        )

    launch_status = _launch_status(launch)
    with checks.about("NNHAL-CACHE-023"):
        answer = _answer(subject, "prepareModelFromCache", launch_status, recorder)
    # GENERAL_FAILURE says that nothing can be restored, wherever another status can say that there is no room.
    return replace(answer, has_fitted=True, is_short=answer.is_short and not answer.warning)


def _launch_status(launch: Callable[[], None]) -> int:
    try:
        launch()
    except ServiceError as error:
        return error.status
    return ErrorStatus.NONE


def _answer(subject: SubjectHandle, method: str, launch_status: int, recorder: PreparationRecorder) -> Preparation:
    launched = launch_status == ErrorStatus.NONE
    manifest = subject.manifest
    seconds = (manifest.deadlines.prepare if launched else _REFUSAL_SECONDS) * manifest.time_scale
    answered = subject.wait_until(lambda: bool(recorder.answers), seconds)
    if launched and not answered:
        raise Hung(f"{method} was launched, but its callback was not notified within {seconds:g} s")
    if len(recorder.answers) > 1:
        raise Failed(f"{method}: expected one notification, found {len(recorder.answers)}", "1", "more")
    status, prepared_model = recorder.take_first() if recorder.answers else (None, None)
    is_short = status in busy(subject.version) and launch_status in (ErrorStatus.NONE, status)
    others = MODELS.count(subject) if is_short else 0
    MODELS.add(subject, prepared_model)
    warning = vagueness(status, subject.version)
    return Preparation(launch_status, status, prepared_model, recorder, others, is_short, warning=warning)


def _has_fitted(subject: SubjectHandle, model: Model, answer: Preparation) -> bool:
    """Whether the subject has had room for a model of this form; remembers that it has it now."""
    forms = _fitted.setdefault(subject, set())
    if answer.prepared_model is not None:
        forms.add(_form(model))
    return answer.is_short and _form(model) in forms


def _form(model: Model) -> int:
    """A number of models that have the same operations on operands of the same types and sizes."""
    graphs = (model.main, *model.referenced)
    operands = tuple((operand.type, operand.dimensions) for graph in graphs for operand in graph.operands)
    operations = tuple(operation.type for graph in graphs for operation in graph.operations)
    return hash((operands, operations, len(model.operand_values), model.relax_computation_float32_to_float16))


_fitted: weakref.WeakKeyDictionary[SubjectHandle, set[int]] = weakref.WeakKeyDictionary()
"""The forms of the models that each subject has prepared."""
