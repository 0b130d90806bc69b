"""An app: `python -m npu_conformance.simulation.demo.app`, with its plan and commands on stdin, and events on stdout.

It loads its model when the manager lets it, runs inferences and compares every output, and unloads when it is asked to;
then it asks again. Where the manager dies it waits for the next one. It ends when stdin does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from npu_conformance.corpus import vectors
from npu_conformance.harness.judge.verdicts import Crashed
from npu_conformance.harness.run.app_connection import ClientSubject
from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.simulation.demo import busy_vector
from npu_conformance.simulation.demo.reports import ASK, FINISH, AppEvent, AppPlan, Kind
from npu_conformance.specs import documents
from npu_conformance.specs.npu.client import ModelLoadRequestBuilder, NpuManager
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import LoadStatus, ModelLoadRequest

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

_LOOK_SECONDS = 0.02
"""How often an app without work looks for commands, beside the callbacks that wake it."""
_CONNECT_SECONDS = 30.0
"""How long an app waits for a manager to appear."""
_PATIENCE_SECONDS = 60.0
"""How long an execution may take: that of an app in the background waits for those of the foreground."""
Write = Callable[[AppEvent], None]


class DemoApp(ModelLoadRequestCallback):
    """The behaviour of an app. Callbacks are queued and handled between inferences, as by an executor of one thread."""

    def __init__(self, subject: SubjectHandle, plan: AppPlan, write: Write) -> None:
        service = subject.interfaces.manager
        if service is None:
            raise ValueError("there is no NPU Manager at this address")
        self._subject = subject
        self._plan = plan
        self._write = write
        self._manager = NpuManager(service)
        self._todo: deque[Callable[[], None]] = deque()
        self._request: ModelLoadRequest | None = None
        self._listener: ModelLoadStatusListener | None = None
        self._inferences: Generator[int] | None = None
        """Runs the loaded model; it holds the model, which leaves memory with it."""
        self._next_request = plan.first_request
        self._done = 0

    def work(self, commands: deque[bytes]) -> None:
        """Follow commands and callbacks, and run inferences while the model is loaded, until the command to finish."""
        while FINISH not in commands:
            if commands:
                commands.popleft()
                self._ask()
            elif self._todo:
                self._todo.popleft()()
            elif self._inferences is not None:
                self._infer(self._inferences)
                self._subject.serve_pending()
            else:
                self._subject.wait_until(lambda: bool(self._todo), _LOOK_SECONDS)
        self._give_back()

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        """Load, if the decision allows it."""
        self._report(Kind.DECISION, request.id, status=status)
        if status == LoadStatus.CAN_LOAD_NOW and request == self._request:
            self._listener = listener
            self._load(request)

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        """Unload at once, and ask again."""
        self._report(Kind.UNLOAD_ASKED, request.id, status=reason)
        if request == self._request:
            self._unload()
            self._ask()

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        """Unload and ask again, where the manager has cancelled a request that is still wanted."""
        self._report(Kind.COMPLETE, request.id, status=status)
        if request == self._request:
            self._drop()
            self._ask()

    def _ask(self) -> None:
        self._listener = None
        self._request = ModelLoadRequestBuilder(self._next_request).set_size(self._plan.size).build()
        self._next_request += 1
        self._report(Kind.ASKS, self._request.id)
        self._manager.request_can_load_model(self._request, self, self._todo.append)

    def _load(self, request: ModelLoadRequest) -> None:
        began = time.monotonic_ns()
        self._inferences = self._model()
        next(self._inferences)
        assert self._listener is not None
        self._report(Kind.LOADED, request.id, began=began)
        self._listener.notify_model_loaded(request)

    def _model(self) -> Generator[int]:
        return infer(self._subject, self._vector(), sys.maxsize)

    def _vector(self) -> vectors.Vector:
        plan, device = self._plan, self._subject.interfaces.device
        if not plan.additions:
            return vectors.load(plan.operation, plan.vector)
        assert device is not None  # the scenario has to have one, and its app has the same
        return busy_vector.supported(device, self._subject.version, plan.additions)

    def _infer(self, inferences: Generator[int]) -> None:
        began = time.monotonic_ns()
        next(inferences)
        self._done += 1
        self._report(Kind.INFERENCE, number=self._done, began=began)

    def _unload(self) -> None:
        assert self._request is not None
        self._drop()
        if self._listener is not None:
            self._listener.notify_model_unloaded(self._request)

    def _drop(self) -> None:
        """Let the model leave memory, where it is there."""
        if self._inferences is not None and self._request is not None:
            self._inferences.close()
            self._inferences = None
            self._report(Kind.UNLOADED, self._request.id)

    def _give_back(self) -> None:
        if self._inferences is not None:
            self._unload()
        elif self._request is not None:
            self._manager.cancel_model_load(self._request)

    def _report(
        self, kind: Kind, request: int = 0, *, status: int | None = None, number: int = 0, began: int = 0
    ) -> None:
        now = time.monotonic_ns()
        self._write(
            AppEvent(
                kind=kind,
                time_ns=now,
                request=request,
                status=status,
                number=number,
                duration_ns=now - began if began else 0,
            )
        )


def main() -> int:
    """Carry out the plan; return 1 where something failed, which the last event reports.

    Where the demo itself has died there is no plan, or nobody to report to: then the app ends without a word.
    """
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # unbuffered: what follows the plan is for the listener
        line = stdin.readline()
    try:
        return _carry_out(documents.decode(line, AppPlan, "plan")) if line else 1
    except BrokenPipeError:
        return 1


def _carry_out(plan: AppPlan) -> int:
    try:
        _live(plan, _commands())
    except Exception as error:
        _report(Kind.FAILED, message=f"{type(error).__name__}: {error}")
        return 1
    _report(Kind.ENDED)
    return 0


def _live(plan: AppPlan, commands: deque[bytes]) -> None:
    """Work. Where the manager dies everything is lost, and the app begins again with the next one.

    A ticket dies with the manager that gave it: then the app cannot come back.
    """
    while not _work(plan, commands):
        _report(Kind.MANAGER_LOST)
        if plan.ticket is not None:
            raise Crashed("the manager died, and with it this app's ticket")
        commands.append(ASK)


def _work(plan: AppPlan, commands: deque[bytes]) -> bool:
    """Connect and follow commands to their end; return False where the manager died meanwhile."""
    subject = _connect(plan, commands)
    try:
        _report(Kind.CONNECTED)
        DemoApp(subject, plan, _write).work(commands)
    except Crashed:
        return False
    finally:
        subject.close()
    return True


def _connect(plan: AppPlan, commands: deque[bytes]) -> ClientSubject:
    deadline = time.monotonic() + _CONNECT_SECONDS
    while True:
        try:
            return ClientSubject(
                plan.address, plan.ticket, plan.transports, plan.version, plan.folder, _PATIENCE_SECONDS
            )
        except Crashed:
            if time.monotonic() > deadline or FINISH in commands:
                raise
            time.sleep(_LOOK_SECONDS)


def _report(kind: Kind, *, message: str = "") -> None:
    _write(AppEvent(kind=kind, time_ns=time.monotonic_ns(), message=message))


def _write(event: AppEvent) -> None:
    os.write(1, documents.encode_line(event))


def _commands() -> deque[bytes]:
    """The commands that have arrived; a thread adds to them."""
    arrived: deque[bytes] = deque()

    def listen() -> None:
        # Not through sys.stdin: its lock would be held when the interpreter ends.
        with open(0, "rb", closefd=False) as commands:
            arrived.extend(commands)
        arrived.append(FINISH)

    threading.Thread(target=listen, daemon=True).start()
    return arrived


if __name__ == "__main__":
    sys.exit(main())
