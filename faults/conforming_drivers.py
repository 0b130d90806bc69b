"""Conforming drivers that treat deadlines, load, and more urgent executions in other ways than the reference."""

from __future__ import annotations

import dataclasses
import math
import threading
import weakref
from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import faulty_device, faulty_models
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.reference.device.shortage import shortage
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.plugin import Context, RealClock, Subject
from npu_conformance.specs.versions import Version

_MISSED = (ErrorStatus.MISSED_DEADLINE_TRANSIENT, ErrorStatus.MISSED_DEADLINE_PERSISTENT)
_GENERAL = ErrorStatus.GENERAL_FAILURE
_SECOND = 10**9
_A_MOMENT = 0.02
Result = types.ExecutionResult


class _IgnoresDeadlines(FaultyPreparedModel):
    """Knows no deadlines."""

    def execute(self, request: types.Request, measure_timing: bool, _: int, *rest: Any) -> None:
        self.inner.execute(request, measure_timing, -1, *rest)

    def execute_synchronously(self, request: types.Request, measure_timing: bool, deadline_ns: int, *rest: Any) -> Any:
        checked = min(deadline_ns, -1)
        return self.inner.execute_synchronously(request, measure_timing, checked, *rest)


class _IgnoringDevice(FaultyDevice):
    """Knows no deadlines."""

    prepared_model = _IgnoresDeadlines

    def prepare_model(self, *arguments: Any) -> None:
        ignored = (*arguments[:3], min(arguments[3], -1), *arguments[4:])
        super().prepare_model(*ignored)


def _is_short(deadline_ns: int) -> bool:
    return 0 <= deadline_ns < RealClock().now_ns() + _SECOND


def _require_a_second(deadline_ns: int, status: int) -> None:
    if _is_short(deadline_ns):
        raise ServiceError(status, "too short")


@forwarding(hal.Burst)
class _ImpatientBurst(Wrapper, hal.Burst):
    """A burst of a model that finds a second too short. too_short: its status."""

    inner: hal.Burst

    def __init__(self, inner: hal.Burst, too_short: int) -> None:
        super().__init__(inner)
        self._too_short = too_short

    def execute_synchronously(self, *arguments: Any) -> Result:
        _require_a_second(arguments[3], self._too_short)
        return self.inner.execute_synchronously(*arguments)


class _ImpatientModel(FaultyPreparedModel):
    """A prepared model that finds a second too short for an execution. too_short: the status that it answers with."""

    too_short: int

    def configure_execution_burst(self) -> hal.Burst:
        return _ImpatientBurst(self.inner.configure_execution_burst(), self.too_short)

    def execute(self, *arguments: Any) -> None:
        if _is_short(arguments[2]):
            arguments[-1].notify(self.too_short, (), types.Timing(2**64 - 1, 2**64 - 1))
        else:
            self.inner.execute(*arguments)

    def execute_synchronously(self, *arguments: Any) -> Result:
        _require_a_second(arguments[2], self.too_short)
        return self.inner.execute_synchronously(*arguments)


class _ImpatientDevice(FaultyDevice):
    """A device that finds a second too short for anything. too_short: the status that it answers with."""

    too_short: int

    def prepare_model(self, *arguments: Any) -> None:
        if _is_short(arguments[3]):
            arguments[-1].notify(self.too_short, None)
        else:
            super().prepare_model(*arguments)

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        if _is_short(arguments[0]):
            arguments[-1].notify(self.too_short, None)
        else:
            super().prepare_model_from_cache(*arguments)


def _aborting(status: int) -> FaultySubject:
    class Model(_ImpatientModel):
        too_short = status

    class Device(_ImpatientDevice):
        too_short = status
        prepared_model = Model

    return faulty_device(Device)


class _OneAtATime(FaultyPreparedModel):
    """Every call waits until the one before it has ended; an asynchronous execution notifies before it returns.

    shared: the lock that who executes holds.
    """

    shared: threading.RLock

    def execute(self, *arguments: Any) -> None:
        done, client = threading.Event(), arguments[-1]

        class Callback(hal.ExecutionCallback):
            def notify(self, *answer: Any) -> None:
                client.notify(*answer)
                done.set()

        watched = (*arguments[:-1], Callback())
        with self.shared:
            self.inner.execute(*watched)
            done.wait()

    def execute_synchronously(self, *arguments: Any) -> Result:
        with self.shared:
            return self.inner.execute_synchronously(*arguments)


class _HasRoomForOne(FaultyPreparedModel):
    """Rejects what comes while something else runs.

    shared: the room. full: what it answers, as of `shortage`.
    """

    shared: threading.Semaphore
    full = ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT

    def execute(self, *arguments: Any) -> None:
        client = arguments[-1]
        if not self.shared.acquire(blocking=False):
            # Whoever calls has to know the version of the interface, as in the synchronous form.
            version: Version = self.inner.version  # type: ignore[attr-defined]
            times = types.Timing(2**64 - 1, 2**64 - 1) if version >= Version.V1_2 else None
            client.notify(self.too_much, (), times)
            return
        super().execute(*arguments)

    def executed(self, callback: hal.ExecutionCallback, *answer: Any) -> None:
        # A rejected launch is notified, too.
        self.shared.release()
        super().executed(callback, *answer)

    def execute_synchronously(self, *arguments: Any) -> Result:
        if not self.shared.acquire(blocking=False):
            raise ServiceError(self.too_much, "busy")
        try:
            return self.inner.execute_synchronously(*arguments)
        finally:
            self.shared.release()

    @property
    def too_much(self) -> int:
        return shortage(self.inner.version, self.full, "busy").status  # type: ignore[attr-defined]


class _HasRoomForOneForLong(_HasRoomForOne):
    """The same, whose asynchronous executions end a moment after the call."""

    def executed(self, callback: hal.ExecutionCallback, *answer: Any) -> None:
        threading.Timer(_A_MOMENT, super().executed, (callback, *answer)).start()


class _WaitsAlone(FaultyPreparedModel):
    """Rejects what comes while a fenced execution waits. shared: the fences of those that do. full: what it answers."""

    shared: list[hal.Fence]
    full = ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT

    def execute_fenced(self, *arguments: Any) -> hal.FencedExecutionResult:
        return self._launched(self.inner.execute_fenced, arguments)

    def execute_fenced_with_config(self, *arguments: Any) -> hal.FencedExecutionResult:
        return self._launched(self.inner.execute_fenced_with_config, arguments)

    def execute_synchronously(self, *arguments: Any) -> Result:
        self._require_room()
        return self.inner.execute_synchronously(*arguments)

    def execute_synchronously_with_config(self, *arguments: Any) -> Result:
        self._require_room()
        return self.inner.execute_synchronously_with_config(*arguments)

    def _launched(self, launch: Callable[..., hal.FencedExecutionResult], arguments: Any) -> hal.FencedExecutionResult:
        self._require_room()
        result = launch(*arguments)
        if result.sync_fence is not None:
            self.shared.append(result.sync_fence)
        return result

    def _require_room(self) -> None:
        self.shared[:] = [one for one in self.shared if one.get_state() == FenceState.UNSIGNALLED]
        if self.shared:
            raise ServiceError(self.full, "an execution waits")


class _RefusesAtLaunch(_HasRoomForOne):
    """Rejects, in the launch as well, what comes while something else runs."""

    def execute(self, *arguments: Any) -> None:
        told: list[int] = []
        client = arguments[-1]

        class Callback(hal.ExecutionCallback):
            def notify(self, status: int, *rest: Any) -> None:
                client.notify(status, *rest)
                told.append(status)

        watched = (*arguments[:-1], Callback())
        super().execute(*watched)
        if told and told[0] == self.too_much:
            raise ServiceError(told[0], "busy")


def _with_room_for_one(kind: type[_HasRoomForOne], status: ErrorStatus | None = None) -> FaultySubject:
    class Model(kind):  # type: ignore[valid-type, misc]
        full = kind.full if status is None else status

    return faulty_models(Model, shared=lambda: threading.Semaphore(1))


def _waiting_alone(status: ErrorStatus = ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT) -> FaultySubject:
    class Model(_WaitsAlone):
        full = status

    return faulty_models(Model, shared=list)


class _Told(hal.PreparedModelCallback):
    """A client's callback, and the status that it was told."""

    def __init__(self, client: hal.PreparedModelCallback) -> None:
        self._client = client
        self.status: int = ErrorStatus.NONE

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        self.status = status
        self._client.notify(status, prepared_model)


def _with_preemption(strategy: str) -> FaultySubject:
    def create(context: Context, version: Version) -> Subject:
        options = {**context.options, "preemption": strategy}
        return Subject(device=ReferenceDevice(dataclasses.replace(context, options=options), version))

    return FaultySubject(create)


def _with_room_for_models(
    most: int, status: ErrorStatus = ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT
) -> type[FaultyDevice]:
    """A device that holds so many prepared models, of all clients together. status: as of `shortage`."""

    class Device(FaultyDevice):
        def __init__(self, inner: ReferenceDevice) -> None:
            super().__init__(inner)
            self.living: weakref.WeakSet[FaultyPreparedModel] = weakref.WeakSet()
            self.full = shortage(inner.version, status, f"{most} models live")

        def prepared(
            self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
        ) -> None:
            if prepared_model is None or len(self.living) < most:
                wrapped = None if prepared_model is None else self.prepared_model(prepared_model)
                if wrapped is not None:
                    self.living.add(wrapped)
                callback.notify(status, wrapped)
            else:
                callback.notify(self.full.status, None)

    return Device


class _FailsToPrepareTheThird(_with_room_for_models(2, _GENERAL)):  # type: ignore[misc]
    """A device whose third prepared model fails. What is restored needs no room: there it would mean a bad cache."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        self.inner.prepare_model_from_cache(*arguments)


def _without_launching_the_third(status: ErrorStatus) -> type[FaultyDevice]:
    """A device that refuses a third prepared model in the launch as well (NNHAL-PREPARE-006)."""

    class Device(_with_room_for_models(2, status)):  # type: ignore[misc]
        def prepare_model(self, *arguments: Any) -> None:
            told = _Told(arguments[-1]) if arguments[-1] is not None else None
            super().prepare_model(*arguments[:-1], told)
            # Whatever else fails is no matter of room.
            if told is not None and told.status == self.full.status and len(self.living) >= 2:
                raise ServiceError(told.status, "no room")

    return Device


def _with_room_for(fits: Callable[[types.Model], bool]) -> type[FaultyDevice]:
    """A device that finds out when it prepares a model that it is too large (NNHAL-SUPPORT-005, NNHAL-QOS-017)."""

    class Device(FaultyDevice):
        def prepared(
            self, callback: hal.PreparedModelCallback, status: int, prepared_model: hal.PreparedModel | None
        ) -> None:
            if isinstance(prepared_model, ReferencePreparedModel) and not fits(prepared_model.model):
                callback.notify(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, None)
            else:
                super().prepared(callback, status, prepared_model)

    return Device


def _of_few_operations(model: types.Model) -> bool:
    return sum(len(graph.operations) for graph in (model.main, *model.referenced)) <= 2


def _of_small_operands(model: types.Model) -> bool:
    operands = [operand for graph in (model.main, *model.referenced) for operand in graph.operands]
    return all(math.prod(operand.dimensions) <= 64 for operand in operands)


VARIANTS = (
    Variant("ignores-deadlines", "Deadlines are not looked at.", faulty_device(_IgnoringDevice), Version.V1_3),
    Variant("aborts-when-short", "What has less than a second is aborted at once.", _aborting(_MISSED[0])),
    Variant("aborts-for-good", "What has less than a second is aborted at once, for good.", _aborting(_MISSED[1]),
            Version.V1_3),
    Variant("refuses-when-short", "What has less than a second is refused for want of resources.",
            _aborting(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT)),
    Variant("one-at-a-time", "Calls wait for each other; notifications come before the launch returns.",
            faulty_models(_OneAtATime, shared=threading.RLock), Version.V1_3),
    Variant("room-for-one", "Executions beside another one are refused.", _with_room_for_one(_HasRoomForOne)),
    Variant("room-for-one-1.2", "The same of HAL 1.2, which can only say that it failed.",
            _with_room_for_one(_HasRoomForOne), Version.V1_2),
    Variant("room-for-one-launch", "Executions beside another one are not launched.",
            _with_room_for_one(_RefusesAtLaunch), Version.V1_3),
    Variant("room-for-one-for-long", "The same, whose executions end a moment after the call.",
            _with_room_for_one(_HasRoomForOneForLong), Version.V1_3),
    Variant("room-for-one-unavailable", "Executions beside another one find the device unavailable.",
            _with_room_for_one(_HasRoomForOne, ErrorStatus.DEVICE_UNAVAILABLE)),
    Variant("room-for-one-general", "Executions beside another one fail.",
            _with_room_for_one(_HasRoomForOne, _GENERAL)),
    Variant("room-for-one-launch-unavailable", "Executions beside another one are not launched by a busy device.",
            _with_room_for_one(_RefusesAtLaunch, ErrorStatus.DEVICE_UNAVAILABLE), Version.V1_3),
    Variant("room-for-one-launch-1.2", "Executions beside another one are not launched, which is a general failure.",
            _with_room_for_one(_RefusesAtLaunch), Version.V1_2),
    Variant("waits-alone", "Nothing is executed while a fenced execution waits.", _waiting_alone()),
    Variant("waits-alone-unavailable", "The device is unavailable while a fenced execution waits.",
            _waiting_alone(ErrorStatus.DEVICE_UNAVAILABLE)),
    Variant("waits-alone-general", "Everything fails while a fenced execution waits.", _waiting_alone(_GENERAL)),
    Variant("room-for-two-models", "A third prepared model is refused.", faulty_device(_with_room_for_models(2))),
    Variant("room-for-two-models-1.2", "The same of HAL 1.2, which can only say that it failed.",
            faulty_device(_with_room_for_models(2)), Version.V1_2),
    Variant("room-for-two-models-unavailable", "Where two prepared models live, the device is unavailable.",
            faulty_device(_with_room_for_models(2, ErrorStatus.DEVICE_UNAVAILABLE))),
    Variant("room-for-two-models-general", "Where two prepared models live, a third preparation fails.",
            faulty_device(_FailsToPrepareTheThird)),
    Variant("room-for-two-models-launch", "A third prepared model is refused in the launch as well.",
            faulty_device(_without_launching_the_third(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT)), Version.V1_3),
    Variant("room-for-two-models-launch-1.2", "The same of HAL 1.2, which can only say that it failed.",
            faulty_device(_without_launching_the_third(_GENERAL)), Version.V1_2),
    Variant("room-for-four-models", "A fifth prepared model is refused.", faulty_device(_with_room_for_models(4)),
            Version.V1_3),
    Variant("room-for-two-operations", "A model of more than two operations is refused when it is prepared.",
            faulty_device(_with_room_for(_of_few_operations))),
    Variant("room-for-64-elements", "A model with a larger tensor is refused when it is prepared.",
            faulty_device(_with_room_for(_of_small_operands)), Version.V1_3),
    Variant("preemption-submodels", "The reference looks up between submodels only.", _with_preemption("submodels")),
    Variant("preemption-restart", "The reference begins again.", _with_preemption("restart"), Version.V1_3),
    Variant("preemption-none", "The reference lets executions end.", _with_preemption("none")),
)  # fmt: skip
"""The conforming drivers; the one that serves in order of arrival is in variants.json."""
