"""A device with several apps under one loading policy, as the cases drive it, and the callbacks about each model.

Where the subject has a virtual clock, everything that is due has happened before a case looks. Without one a case waits
for what it expects, and what comes later than that is not seen: no case sleeps for a guessed time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from npu_conformance.cts.lib.manager_client import (
    CANCELLED,
    GRANT,
    WAIT,
    CallbackRecorder,
    Client,
    Event,
    Notification,
    control,
    install_only,
    is_live,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import must
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.manager import ManagerControl, ModelLoadStatusListener
from npu_conformance.specs.npu.types import (
    UNLOAD_TIMEOUT_NS,
    Flag,
    Importance,
    MemoryPressure,
    ModelLoadRequest,
    ModelPriority,
    ModelSize,
    Policy,
    PolicyParameters,
    ThermalStatus,
    UnloadReason,
)

SMALL, MEDIUM, LARGE = ModelSize
"""Under the budget policy's defaults: a quarter, a half, and all of the budget."""
SETTINGS, FIRST_APP = 10_100, 10_201
UIDS_OF_A_USER = 100_000
"""The uids of another user of the device are so many higher, as in Android."""
UNLOAD: Notification = ("unload", None)
"""An unload request in either form: `received` leaves the reason out."""
CALLBACK_SECONDS = 5.0
"""How long CTS waits for a callback that depends on other apps, before time_scale."""
_STEP_NS = 100_000_000
_POLL_SECONDS = 0.002
_MOST_STEPS = 20
"""That a failure tells."""


class ManagerFixture:
    """Apps, in order of `app`, under a policy that was set afresh: no request is left of earlier cases."""

    def __init__(
        self, context: CaseContext, policy: Policy = Policy.BUDGET, parameters: PolicyParameters | None = None
    ) -> None:
        self.context = context
        self.control = control(context)
        self.clients: list[Client] = []
        self.settings = install_only(context, SETTINGS)
        self._relieve()
        self.settings.manager.set_policy(policy, parameters)
        self._steps: list[str] = [f"the policy is {policy.name}{_spelled(parameters)}"]

    def note(self, step: str) -> None:
        """Keep what an app has done: a failure tells it."""
        self._steps.append(step)

    @property
    def steps(self) -> list[str]:
        """What was done so far, for messages; of much the last of it."""
        earlier = len(self._steps) - _MOST_STEPS
        return self._steps if earlier <= 0 else [f"... {earlier} others", *self._steps[-_MOST_STEPS:]]

    def app(
        self,
        importance: int = Importance.FOREGROUND,
        *,
        declares: bool = True,
        target_sdk: int = 37,
        user: int = 0,
        twin_of: ClientApp | None = None,
    ) -> ClientApp:
        """Install the next app, with a process, at this importance.

        user: of the device; 0 is the first. twin_of: an app of the first user, which another user has too.
        """
        first = FIRST_APP if self.context.manifest.virtual_clock else self.context.case_uid(FIRST_APP)
        own = first + len(self.clients) if twin_of is None else twin_of.uid
        uid = user * UIDS_OF_A_USER + own
        client = install_only(self.context, uid, declares=declares, target_sdk=target_sdk)
        self.clients.append(client)
        self.control.set_importance(client.uid, importance)
        self._pass()
        self.note(f"uid {client.uid} is an app of importance {checks.format_value(importance)}")
        return ClientApp(self, client)

    def forgets(self, app: ClientApp) -> None:
        """Remove an app of very many requests with the case: a manager that hangs over it hangs in this one."""
        self.context.close_later(_Removal(self.control, app.uid))

    def settle(self) -> None:
        """Let everything happen that is due, and all callbacks arrive."""
        self._pass()
        for client in self.clients:
            if client.alive:
                client.catch_up()

    def _pass(self) -> None:
        """Let a virtual clock run on until all is due that was begun; real time passes by itself."""
        if self.context.manifest.virtual_clock:
            self.control.advance_clock(_STEP_NS)

    def wait(self, predicate: Callable[[], bool]) -> bool:
        """Settle, and wait for what may take real time."""
        self.settle()
        seconds = 0.0 if self.context.manifest.virtual_clock else CALLBACK_SECONDS * self.context.manifest.time_scale
        return self.context.subject.wait_until(predicate, seconds)

    def until(self, predicate: Callable[[], bool]) -> None:
        """Wait in real time also where the clock is virtual: for what the transport takes its time to notice."""
        deadline = time.monotonic() + CALLBACK_SECONDS * self.context.manifest.time_scale
        while not self.wait(predicate) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    @contextmanager
    def unload_timeout(self, duration_ns: int) -> Iterator[None]:
        """Let unload requests stay unanswered for this long; NotApplicable where that cannot be set."""
        try:
            self.control.set_unload_timeout(duration_ns)
        except Unsupported as error:
            raise NotApplicable(f"the time for an unload cannot be set: {error}") from None
        try:
            yield
        finally:
            self.control.set_unload_timeout(UNLOAD_TIMEOUT_NS)

    def _relieve(self) -> None:
        """End pressure that an interrupted case left behind."""
        try:
            self.control.set_thermal_pressure(ThermalStatus.NONE)
            self.control.set_memory_pressure(MemoryPressure.NONE)
        except Unsupported:  # then there was none
            return


class ClientApp:
    """An app of the fixture: what it asks for, and what becomes of it."""

    def __init__(self, fixture: ManagerFixture, client: Client) -> None:
        self.fixture = fixture
        self.client = client
        self._ids = iter(range(1, 1000))

    @property
    def uid(self) -> int:
        """Its uid."""
        return self.client.uid

    def asks(
        self,
        size: int = LARGE,
        priority: int = ModelPriority.NORMAL,
        *,
        identifier: int | None = None,
        recorder: CallbackRecorder | None = None,
    ) -> RequestedModel:
        """Submit a request, with an id of its own unless one is given. recorder: of its callbacks, or the process's."""
        request = ModelLoadRequest(next(self._ids) if identifier is None else identifier, size, priority)
        model = RequestedModel(self, request, recorder)
        self.fixture.note(f"uid {self.uid} asks: request {request.id}, size {size:d}, priority {priority:d}")
        self.client.request(request, recorder)
        return model

    def asks_again(self, request: ModelLoadRequest, recorder: CallbackRecorder, client: Client | None = None) -> bool:
        """Submit a live id again, from another process where one is given: whether it is rejected."""
        asking = client or self.client
        rejected = is_live(self.fixture.context, lambda: asking.request(request, recorder))
        process = f"process {asking.pid} of " if asking.pid else ""
        ending = "rejected" if rejected else "taken"
        self.fixture.note(f"{process}uid {self.uid} asks again: request {request.id}, size {request.size:d}: {ending}")
        return rejected

    def granted(
        self, size: int = LARGE, priority: int = ModelPriority.NORMAL, *, identifier: int | None = None
    ) -> RequestedModel:
        """Submit a request that has to be granted."""
        model = self.asks(size, priority, identifier=identifier)
        model.receives(GRANT)
        return model

    def loads(
        self, size: int = LARGE, priority: int = ModelPriority.NORMAL, *, identifier: int | None = None
    ) -> RequestedModel:
        """Submit a request that has to be granted, and load."""
        model = self.granted(size, priority, identifier=identifier)
        model.load()
        return model

    def moves(self, importance: int) -> None:
        """Come to another importance."""
        self.fixture.note(f"uid {self.uid} comes to importance {checks.format_value(importance)}")
        self.fixture.control.set_importance(self.uid, importance)
        self.fixture.settle()

    def dies(self) -> None:
        """Lose the process."""
        self.fixture.note(f"the process of uid {self.uid} dies")
        self.client.alive = False
        self.fixture.control.kill_client(self.uid)
        self.fixture.settle()

    def restarts(self) -> None:
        """Start a process again."""
        self.client = Client(self.fixture.context, self.uid)
        self.fixture.clients.append(self.client)


class _Removal(msgspec.Struct, frozen=True):
    """An app that goes with the case."""

    control: ManagerControl
    uid: int

    def close(self) -> None:
        """Remove it."""
        self.control.remove_app(self.uid)


class RequestedModel:
    """A model that an app wants, or has, in the driver's memory."""

    def __init__(self, app: ClientApp, request: ModelLoadRequest, recorder: CallbackRecorder | None = None) -> None:
        self.app = app
        self.request = request
        self._client = app.client
        self._recorder = recorder or app.client.recorder
        self._since = len(self._recorder.events)

    @property
    def name(self) -> str:
        """For messages."""
        return f"request {self.request.id} of uid {self.app.uid}"

    @property
    def events(self) -> list[Event]:
        """The callbacks since it was submitted, as they came."""
        later = self._recorder.events[self._since :]
        return [event for event in later if event.request.id == self.request.id]

    @property
    def notifications(self) -> list[Notification]:
        """What the callbacks said, with every repetition and reason."""
        return [event.notification for event in self.events]

    @property
    def received(self) -> list[Notification]:
        """The notifications without repetitions, which only a quality warning is due to."""
        return without_repetitions(self.notifications)

    def receives(self, *expected: Notification) -> None:
        """Check, once everything has arrived, the notifications since it was submitted: in order and in full."""
        self.receives_one_of(expected)

    def receives_one_of(self, *allowed: Sequence[Notification]) -> None:
        """The same with several right answers.

        Waits no longer than one of them can still come: what is wrong already stays wrong.
        """
        wanted = [list(each) for each in allowed]

        def is_settled() -> bool:
            received = self.received
            return received in wanted or not any(may_become(received, each) for each in wanted)

        self.app.fixture.wait(is_settled)
        received = self.received
        for event in self.events:
            self._client.judge_request(event)
        self._judge_repetitions()
        self._judge_reasons()
        what = f"callbacks of {self.name}"
        must(lambda: _is_one_of(received, wanted, what), self.app.fixture.steps)

    def is_answered(self) -> None:
        """Check that any callback comes."""
        self.app.fixture.wait(lambda: bool(self.received))
        must(
            lambda: checks.that(bool(self.received), f"{self.name}: expected an answer, found none"),
            self.app.fixture.steps,
        )

    @checks.about("NPU-LIF-011", "NPU-LIF-012")
    def is_cancelled(self) -> None:
        """Check that the last callback is the completion of a cancelled request, once it has come."""
        self.app.fixture.wait(lambda: self.received[-1:] == [CANCELLED])
        checks.equal(self.received[-1:], [CANCELLED], f"the last callback of {self.name}, which its app has cancelled")

    @checks.about("NPU-PRI-013", "NPU-LIF-008")
    def is_outranked(self) -> None:
        """Check that a loaded model is asked to unload, since importances have changed: the policy has looked again."""
        self.receives(GRANT, UNLOAD)

    def asked_because(self, reason: UnloadReason) -> None:
        """Warn where the last unload request names another reason; naming none is as good."""
        given = [event.status for event in self.events if event.kind == "unload"][-1:]
        if given and given[0] not in (None, reason):
            self.app.fixture.context.warn_quality(f"{self.name}: unload reason {given[0]}, expected {reason.name}")

    def load(self) -> None:
        """Notify that it is loaded."""
        self.app.fixture.note(f"uid {self.app.uid} loads request {self.request.id}")
        self._listener.notify_model_loaded(self.request)
        self.app.fixture.settle()

    def unload(self) -> None:
        """Notify that it is unloaded."""
        self.app.fixture.note(f"uid {self.app.uid} unloads request {self.request.id}")
        self._listener.notify_model_unloaded(self.request)
        self.app.fixture.settle()

    def cancel(self) -> None:
        """Withdraw the request."""
        self.app.fixture.note(f"uid {self.app.uid} cancels request {self.request.id}")
        self._client.manager.cancel_model_load(self.request)
        self.app.fixture.settle()

    @property
    def _listener(self) -> ModelLoadStatusListener:
        listeners = [event.listener for event in self.events if event.listener is not None]
        if not listeners:
            checks.fail(self.name, "a decision with a status listener", "none")
        return listeners[-1]

    def _judge_repetitions(self) -> None:
        notifications = self.notifications
        context = self.app.fixture.context
        if len(notifications) > len(self.received):
            context.warn_quality(f"{self.name}: notified again of what is still unanswered")
        if (GRANT, WAIT) in itertools.pairwise(notifications):
            context.warn_quality(f"{self.name}: the wait was announced behind the grant that ended it")

    def _judge_reasons(self) -> None:
        for event in self.events:
            if event.kind == "unload" and event.status not in (None, *UnloadReason):
                checks.fail(f"reason to unload {self.name}", "none, or a defined one", str(event.status))


def _spelled(parameters: PolicyParameters | None) -> str:
    if parameters is None:
        return ""
    return f", maximum {parameters.max_budget}, weights {parameters.model_size_weights or 'as they are by default'}"


def _is_one_of(received: list[Notification], wanted: list[list[Notification]], what: str) -> None:
    if len(wanted) == 1:
        checks.equal(received, wanted[0], what)
    checks.member(received, wanted, what)


def may_become(received: list[Notification], wanted: list[Notification]) -> bool:
    """True where notifications to come can make what was received into what is wanted.

    They are added behind, but for the wait whose grant overtook it, which `without_repetitions` puts before the grant.
    """
    overtaken = [*received[:-1], WAIT, GRANT] if received[-1:] == [GRANT] and WAIT not in received else received
    return any(wanted[: len(each)] == each for each in (received, overtaken))


@contextmanager
def switched(context: CaseContext, flag: Flag, enabled: bool) -> Iterator[None]:
    """Switch a flag for a while; all are on otherwise. NotApplicable where that cannot be done."""
    try:
        control(context).set_flag(flag, enabled)
    except Unsupported as error:
        raise NotApplicable(f"the flag {flag} cannot be switched: {error}") from None
    try:
        yield
    finally:
        control(context).set_flag(flag, True)
