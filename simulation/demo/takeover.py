"""A foreground app takes the NPU over from a background one, and gives it back: run with real processes, and judged.

The assistant has a large model loaded and works with it. The camera asks from the background and is not prioritized.
The user opens it: the manager asks the assistant to unload, and the camera loads and works. When it is done, the
assistant comes back.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.run.app_connection import ticket_of
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.simulation.demo.npu_work import WorkEvent, work_events
from npu_conformance.simulation.demo.processes import AppProcess, GoneError, listen
from npu_conformance.simulation.demo.reports import ASK, FINISH, AppEvent, AppPlan, Kind
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.npu.types import PERMISSION, SHELL_UID, Importance, LoadStatus, ModelSize
from npu_conformance.specs.versions import Version

_LATE_SECONDS, _LOOK_SECONDS = 1.0, 0.01


@dataclass(frozen=True)
class AppSpec:
    """An app of the scenario. operation: its model is the first stored vector of that; importance: at the beginning.

    additions: its model is a chain of so many instead, where there are any.
    """

    name: str
    uid: int
    operation: str
    size: int
    importance: int
    additions: int = 0


ASSISTANT = AppSpec("assistant", 10_002, "FULLY_CONNECTED", ModelSize.GREATER_THAN_2G, Importance.SERVICE)
CAMERA = AppSpec("camera", 10_001, "CONV_2D", ModelSize.LESS_THAN_1GB, Importance.CACHED)


@dataclass
class Transcript:
    """The record of a run. events: the apps'. moments: time in ns and text. budget: time in ns and what is used then.

    works: what the scheduling HAL reported, by uid.
    """

    events: list[tuple[str, AppEvent]] = field(default_factory=list)
    moments: list[tuple[int, str]] = field(default_factory=list)
    budget: list[tuple[int, int]] = field(default_factory=list)
    works: dict[int, list[WorkEvent]] = field(default_factory=dict)

    def of(self, name: str) -> list[AppEvent]:
        """The events of one app."""
        return [event for who, event in self.events if who == name]


_NEEDED = ("device", "manager", "manager_control")


class TakeoverScenario:
    """The take-over. print_event: gets the time in ns, who acts, and how, as text.

    inferences: of each app in each of its steps. seconds: how long each step may take. Raises LoadError where the
    implementation lacks what the scenario needs.
    """

    def __init__(
        self,
        subject: RemoteSubject,
        inferences: int,
        seconds: float,
        print_event: Callable[[int, str, str], None],
    ) -> None:
        interfaces = subject.interfaces
        if interfaces.manager is None or interfaces.manager_control is None or interfaces.device is None:
            missing = ", ".join(name for name in _NEEDED if getattr(interfaces, name) is None)
            raise LoadError(f"the plug-in needs a device, a manager, and what steers it; it has no {missing}")
        if subject.manifest.virtual_clock:
            raise LoadError("the plug-in's clock is virtual: processes need one that goes by itself")
        self.transcript = Transcript()
        self._subject = subject
        self._control = interfaces.manager_control
        self._inferences = inferences
        self._seconds = seconds
        self._print_event = print_event

    def set_up(self) -> None:
        """Install the apps, and share the NPU by budget."""
        self.install((ASSISTANT, CAMERA), "set-budget-policy")

    def install(self, specs: Sequence[AppSpec], policy: str) -> None:
        """Install apps, and choose a policy by its command."""
        for spec in specs:
            self._control.install_app(spec.uid, spec.name, True, 37)
            self._control.grant_permission(spec.uid, PERMISSION, True)
            self._control.set_importance(spec.uid, spec.importance)
        shell = self._subject.application(SHELL_UID).interfaces.manager
        assert isinstance(shell, Manager)
        result = shell.shell_command((policy,))
        if result.exit_code != 0:
            raise GoneError(f"{policy}: {result.output.strip()}")

    def start(self, app: AppProcess, spec: AppSpec) -> None:
        """Start an app in its process."""
        address, ticket = ticket_of(self._subject, spec.uid, app.pid)
        version = self._subject.version
        vector = "" if spec.additions else vector_of(spec, version, self._supported)
        app.start(
            AppPlan(
                address=address,
                ticket=ticket,
                transports=self._subject.memory.transports,
                version=version,
                operation=spec.operation,
                vector=vector,
                size=spec.size,
                additions=spec.additions,
                folder=self._subject.shared_folder,
            )
        )

    def run(self, assistant: AppProcess, camera: AppProcess) -> None:
        """Run all steps. Raises GoneError where something did not happen in time, or an app failed."""
        apps = (assistant, camera)
        assistant.send(ASK)
        self.until("the assistant works", apps, lambda: assistant.inferences >= self._inferences)
        camera.send(ASK)
        self.until("the camera is refused", apps, lambda: camera.has(Kind.DECISION, LoadStatus.NOT_PRIORITIZED))
        self.moment("the user opens the camera")
        self._control.set_importance(CAMERA.uid, Importance.FOREGROUND)
        self.until("the camera works", apps, lambda: camera.inferences >= self._inferences)
        self.moment("the user closes the camera")
        camera.send(FINISH)
        self.until("the camera ends", apps, lambda: camera.has(Kind.ENDED))
        done = assistant.inferences
        self.until("the assistant works again", apps, lambda: assistant.inferences >= done + self._inferences)
        assistant.send(FINISH)
        self.until("the assistant ends", apps, lambda: assistant.has(Kind.ENDED))

    def until(self, step: str, apps: Sequence[AppProcess], condition: Callable[[], bool]) -> None:
        """Follow the apps until a condition holds. step: what is waited for, in words. Raises GoneError."""
        listen(step, apps, condition, self._seconds, self._receive)

    def _receive(self, app: AppProcess, event: AppEvent) -> None:
        self.transcript.events.append((app.name, event))
        if event.kind is not Kind.INFERENCE:
            self._print_event(event.time_ns, app.name, words(event))
        if event.kind in (Kind.DECISION, Kind.LOADED, Kind.UNLOADED):
            with contextlib.suppress(Unsupported):  # the manager gives no snapshots: the timeline is without budget
                self.transcript.budget.append((time.monotonic_ns(), self._control.take_snapshot().used))

    def moment(self, text: str) -> None:
        """Note what the user does."""
        now = time.monotonic_ns()
        self.transcript.moments.append((now, text))
        self._print_event(now, "", text)

    def collect_work(self) -> None:
        """Ask the manager what the scheduling HAL has reported to it, where it keeps a log. The last ends come late."""
        deadline, works = time.monotonic() + _LATE_SECONDS, self.transcript.works
        with contextlib.suppress(Unsupported):
            while True:
                for event in work_events(self._control.take_metrics()):
                    works.setdefault(event.uid, []).append(event)
                if all(events[-1].is_end for events in works.values()) or time.monotonic() > deadline:
                    return
                time.sleep(_LOOK_SECONDS)

    def _supported(self, operation: str, vector: str) -> bool:
        device = self._subject.interfaces.device
        assert device is not None
        model = build_model(vectors.load(operation, vector), self._subject.version).model
        return all(device.get_supported_operations(model))


def vector_of(spec: AppSpec, version: Version, is_supported: Callable[[str, str], bool]) -> str:
    """The first stored vector of a spec's operation that the device supports. Raises GoneError where there is none."""
    for header in vectors.headers(spec.operation):
        usable = header.since <= version and header.rejected is None and not header.relaxed
        if usable and is_supported(spec.operation, header.name):
            return header.name
    raise GoneError(f"the device supports no stored model of {spec.operation}")


def words(event: AppEvent) -> str:
    """Describe an event for people."""
    match event.kind:
        case Kind.ASKS:
            return f"asks to load its model (request {event.request})"
        case Kind.DECISION:
            names = {0: "may load now", 1: "has to wait for an unload", 2: "is not prioritized"}
            return f"{names[event.status or 0]} (request {event.request})"
        case Kind.LOADED:
            return f"has loaded its model in {event.duration_ns / 1e6:.1f} ms"
        case Kind.UNLOAD_ASKED:
            return f"is asked to unload (reason {event.status})"
        case Kind.UNLOADED:
            return "has unloaded its model"
        case Kind.COMPLETE:
            return f"request {event.request} is over (status {event.status})"
        case Kind.FAILED:
            return f"failed: {event.message}"
    return str(event.kind.value)


def problems(transcript: Transcript, inferences: int) -> list[str]:
    """What is missing in a transcript for it to be a take-over; empty where it is one."""
    weak, strong = transcript.of(ASSISTANT.name), transcript.of(CAMERA.name)
    steps = (
        ("the assistant works", ASSISTANT.name, lambda event: event.number >= inferences),
        ("the camera is refused", CAMERA.name, lambda event: _is(event, Kind.DECISION, LoadStatus.NOT_PRIORITIZED)),
        ("the assistant is asked to unload", ASSISTANT.name, lambda event: event.kind is Kind.UNLOAD_ASKED),
        ("the assistant unloads", ASSISTANT.name, lambda event: event.kind is Kind.UNLOADED),
        ("the camera may load", CAMERA.name, lambda event: _is(event, Kind.DECISION, LoadStatus.CAN_LOAD_NOW)),
        ("the camera works", CAMERA.name, lambda event: event.number >= inferences),
        ("the camera unloads", CAMERA.name, lambda event: event.kind is Kind.UNLOADED),
        ("the assistant loads again", ASSISTANT.name, lambda event: event.kind is Kind.LOADED),
        ("the assistant works again", ASSISTANT.name, lambda event: event.kind is Kind.INFERENCE),
    )
    missing = _missing_step(transcript, steps)
    found = [f"did not happen in its order: {missing}"] if missing else []
    found += [f"failed: {event.message}" for event in weak + strong if event.kind is Kind.FAILED]
    if _overlap(weak, strong):
        found.append("both models were loaded at once, which the budget forbids")
    return found


def _is(event: AppEvent, kind: Kind, status: int) -> bool:
    return event.kind is kind and event.status == status


def _missing_step(transcript: Transcript, steps: Sequence[tuple[str, str, Callable[[AppEvent], bool]]]) -> str:
    """The first step that does not follow the one before it, by the clock."""
    ordered = iter(sorted(transcript.events, key=lambda each: each[1].time_ns))
    for text, name, happened in steps:
        if not any(who == name and happened(event) for who, event in ordered):
            return text
    return ""


def _overlap(one: Sequence[AppEvent], other: Sequence[AppEvent]) -> bool:
    spans = [(began, ended) for events in (one, other) for began, ended in _loaded(events)]
    spans.sort()
    return any(following[0] < before[1] for before, following in itertools.pairwise(spans))


def _loaded(events: Sequence[AppEvent]) -> list[tuple[int, int]]:
    """When the model was in memory: from the end of loading to the end of unloading, or the last event."""
    spans: list[tuple[int, int]] = []
    since: int | None = None
    for event in events:
        if event.kind is Kind.LOADED and since is None:
            since = event.time_ns
        elif event.kind is Kind.UNLOADED and since is not None:
            spans.append((since, event.time_ns))
            since = None
    return spans if since is None else [*spans, (since, events[-1].time_ns)]
