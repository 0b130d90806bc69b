"""An app that uses the NPU Manager, as the cases drive it: its requests, and the record of its callbacks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TypeVar

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import (
    CANCELLED,
    COMPLETE,
    GRANT,
    PARKED,
    WAIT,
    CallbackRecorder,
    Event,
    Kind,
    Notification,
    without_repetitions,
)
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument, IllegalState, InterfaceError, SecurityDenied, ServiceError
from npu_conformance.specs.npu.manager import (
    Manager,
    ManagerControl,
    ModelLoadStatusListener,
)
from npu_conformance.specs.npu.types import (
    BLOCKING_SDK,
    PERMISSION,
    LoadStatus,
    ModelLoadRequest,
    ModelPriority,
    Policy,
)

__all__ = [
    "CANCELLED", "COMPLETE", "GRANT", "PARKED", "REJECTIONS", "WAIT", "CallbackRecorder", "Client", "Event", "Kind",
    "Notification", "answered", "barrier", "control", "install", "install_only", "is_denied", "is_live",
    "opportunistic_of", "package_of", "pass_time", "renew",
]  # fmt: skip
CAMERA = 10_101
ASSISTANT = 10_102
_GRANT_SECONDS = 2.0
"""How long an app's own callback may take, before time_scale; CTS waits as long for a grant."""
_CLOCK_STEP_NS = 1_000_000_000
_NOBODY = 10_199
_LOOK_SECONDS = 0.001
"""Between two looks for an answer: without a pause the look itself would keep who answers in this process from it."""
_MARKER = 0x7EAD_BEA7
"""Id of the request that `Client.flush` sends; no case uses it."""
ACCEPTED_AGAIN = "a live id is accepted again"
ILLEGAL_STATE = "a live id is rejected as an illegal state, where Manager names an illegal argument"
"""Quality warnings about requests with the id of a live one."""
REJECTIONS = (IllegalArgument, IllegalState, ServiceError)
"""By which of them a call is rejected is free where no requirement names the error (NPU-REQ-013)."""

Answer = TypeVar("Answer")


class Client:
    """A process of an installed app: its connection to the manager, and the callbacks that it received."""

    def __init__(self, context: CaseContext, uid: int, pid: int = 0) -> None:
        self.context = context
        self.uid = uid
        self.pid = pid
        self.alive = True
        self.recorder = CallbackRecorder()
        self.submitted: list[ModelLoadRequest] = []
        """The requests that the manager has taken, each time as it was submitted."""
        self.process = context.application(uid, pid)
        self.manager: Manager = context.present(self.process.interfaces.manager, "manager")

    def request(self, request: ModelLoadRequest, recorder: CallbackRecorder | None = None) -> None:
        """Submit a request; its callbacks go to the recorder, the client's own unless one is given."""
        self.submitted.append(request)  # at once: a callback may arrive before the call returns
        try:
            self.manager.request_can_load_model(request, recorder or self.recorder)
        except InterfaceError:
            self.submitted.pop()
            raise

    def judge_request(self, event: Event) -> None:
        """Check that a callback names a request as this client has submitted it (NPU-LIF-003)."""
        if event.request not in self.submitted:
            checks.fail(f"request in the {event.kind} callback", "one as it was submitted", str(event.request))

    def granted(self, request: ModelLoadRequest) -> ModelLoadStatusListener:
        """Submit a request, check that it is granted, and return the listener of the decision."""
        seen = len(self.recorder.events)
        self.request(request)
        decision = self.awaited(lambda: self._decision(request, seen), f"decision on request {request.id}")
        checks.equal(decision.status, LoadStatus.CAN_LOAD_NOW, f"decision on request {request.id}")
        if decision.listener is None:
            checks.fail(f"decision on request {request.id}", "a status listener", "none")
        return decision.listener

    def awaited(self, find: Callable[[], Event | None], what: str) -> Event:
        """Let time pass until `find` finds an event; Failed where it does not in time."""
        pass_time(self.context)
        seconds = _GRANT_SECONDS * self.context.manifest.time_scale
        self.context.subject.wait_until(lambda: find() is not None, seconds)
        event = find()
        if event is None:
            checks.fail(what, f"a callback within {seconds} s", "none")
        return event

    def flush(self) -> None:
        """Wait until every callback sent so far has arrived.

        One more request is submitted and cancelled: callbacks of one app arrive in order, so those before it are there
        when its own are.
        """
        marker = ModelLoadRequest(_MARKER)
        seen = len(self.recorder.events)
        self.granted(marker)
        self.manager.cancel_model_load(marker)
        self.awaited(lambda: self._completion(marker, seen), "completion of a cancelled request")

    def expect(self, identifier: int, *expected: tuple[Kind, int]) -> None:
        """Check, once everything has arrived, the notifications about a request, in order and in full."""
        self.flush()
        found = self.recorder.of(identifier)
        checks.equal(without_repetitions(found), list(expected), f"callbacks of request {identifier}")
        if len(found) > len(expected):
            self.context.warn_quality(f"request {identifier}: notified again of what it was notified of")

    def catch_up(self) -> None:
        """Let everything arrive that was sent to this app: with a virtual clock, before the call that moved it ended.

        Real time needs a call of the app itself, whose answer comes behind what the manager had to say by then.
        """
        if self.context.manifest.virtual_clock:
            self.process.catch_up()
        else:
            barrier(self.manager)

    def _decision(self, request: ModelLoadRequest, seen: int) -> Event | None:
        return self._find("decision", request, seen)

    def _completion(self, request: ModelLoadRequest, seen: int) -> Event | None:
        return self._find("complete", request, seen)

    def _find(self, kind: Kind, request: ModelLoadRequest, seen: int) -> Event | None:
        later = self.recorder.events[seen:]
        return next((event for event in later if event.kind == kind and event.request.id == request.id), None)


def install(context: CaseContext, uid: int, *, permitted: bool = True) -> Client:
    """Install an app afresh under status quo, so that nothing is left of earlier cases, and start its process."""
    client = install_only(context, uid, permitted=permitted)
    if permitted:
        client.manager.set_policy(Policy.STATUS_QUO, None)
    return client


def install_only(
    context: CaseContext, uid: int, *, permitted: bool = True, declares: bool = True, target_sdk: int = BLOCKING_SDK
) -> Client:
    """The same under whatever policy there is."""
    manager_control = control(context)
    renew(manager_control, uid, declares=declares, target_sdk=target_sdk)
    manager_control.grant_permission(uid, PERMISSION, permitted)
    return Client(context, uid)


def renew(manager_control: ManagerControl, uid: int, *, declares: bool = True, target_sdk: int = BLOCKING_SDK) -> None:
    """Install an app afresh, without permissions: its earlier process is gone with what it had."""
    with suppress(IllegalArgument):  # no case ran with this uid before: nothing to remove
        manager_control.remove_app(uid)
    manager_control.install_app(uid, package_of(uid), declares, target_sdk)


def package_of(uid: int) -> str:
    """Name of the package that `install` gives a uid."""
    return f"android.npumanager.testapp{uid}"


def barrier(manager: Manager) -> None:
    """Make a call that does nothing: its answer comes behind all that was sent over the connection before it.

    It cancels a request that does not exist, which has no effect (NPU-LIF-014).
    """
    manager.cancel_model_load(ModelLoadRequest(_MARKER))


def control(context: CaseContext) -> ManagerControl:
    """The control interface; NotApplicable where the subject has none, since apps cannot be arranged."""
    return context.present(context.subject.interfaces.manager_control, "manager_control")


def answered(context: CaseContext, call: Callable[[], Answer]) -> Answer:
    """Make an app's call that the manager answers only once the suite, in another role, has answered the manager.

    The suite listens in that role while it makes calls of its own: here, to remove an app that does not exist.
    """
    with ThreadPoolExecutor(1) as caller:
        answer = caller.submit(call)
        while not wait((answer,), timeout=_LOOK_SECONDS).done:
            control(context).remove_app(_NOBODY)
        return answer.result()


def is_live(context: CaseContext, request: Callable[[], object]) -> bool:
    """True where a request is rejected for its id, which is live.

    NPU-REQ-012 names no error, and AOSP's manager rejects nothing of the kind. The interface names IllegalArgument.
    """
    try:
        request()
    except IllegalArgument:
        return True
    except IllegalState:
        context.warn_quality(ILLEGAL_STATE)
        return True
    context.warn_quality(ACCEPTED_AGAIN)
    return False


def is_denied(call: Callable[[], object]) -> bool:
    """True where a call is rejected for want of a right."""
    try:
        call()
    except SecurityDenied:
        return True
    return False


def pass_time(context: CaseContext) -> None:
    """Let a virtual clock run a second, so that what is due happens; real time passes by itself."""
    clock = moved_clock(context)
    if clock is not None:
        clock.advance_clock(_CLOCK_STEP_NS)


def moved_clock(context: CaseContext) -> ManagerControl | None:
    """The virtual clock, which stands still until it is moved; None where time passes by itself."""
    return context.subject.interfaces.manager_control if context.manifest.virtual_clock else None


def opportunistic_of(context: CaseContext) -> int:
    """The number of NPU_MODEL_PRIORITY_OPPORTUNISTIC: the manifest's, where it has one."""
    return context.manifest.constants.get("NPU_MODEL_PRIORITY_OPPORTUNISTIC", ModelPriority.OPPORTUNISTIC)
