"""Executions that were refused or have failed, for each reason: what they are then, and what they compute afterwards.

Each reason can be taken away. A reusable execution computes again then; another one is over, and can be freed, except
where it was refused before it had begun.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from npu_conformance.cts.lib.runtime.described_sums import fill, memory_for_sum
from npu_conformance.cts.lib.runtime.fixture import ADDENDS, VECTOR, VECTOR_BYTES
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver, failing
from npu_conformance.cts.lib.runtime.ways import compute, start_with_dependencies, started, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.behind_failures", interface="runtime", group=Group.RUNTIME_EXECUTIONS)

_MOST_TURNS = 4
_FAILED = tuple(code for code in ResultCode if code not in (ResultCode.NO_ERROR, ResultCode.BAD_STATE))


@dataclass
class _Scene:
    """An execution of the sum, and how it fails. fail: has it fail, and returns the code; mend: takes the reason away.

    compilation, execution: 0 before they are made.
    """

    app: ScriptedApp
    compilation: int
    execution: int
    fail: Callable[[], int]
    mend: Callable[[], object] = lambda: None
    codes: tuple[int, ...] = _FAILED

    def fails(self) -> None:
        """See it fail with one of the codes."""
        self.app.expect("an execution that has a reason to fail", self.fail(), *self.codes)

    def computes(self, way: str) -> None:
        """Compute the sum in one of the ways."""
        self.app.memory.write(self.app.output_of(self.execution), bytes(VECTOR_BYTES))
        self.app.expect(way, compute(self.app, way, self.execution, self.compilation))
        self.app.check_sum(self.execution)


Make = Callable[[ScriptedApp], _Scene]
"""Makes a scene of an app with the drivers below; the execution has all its arguments and has not begun."""


def _app(context: CaseContext, *misbehaviours: Misbehaviour) -> ScriptedApp:
    moody = driver("moody", misbehaviours=misbehaviours)
    return ScriptedApp(context, moody, driver("good"), driver("broken", **failing("execute")))


def _ready(app: ScriptedApp, *devices: str) -> tuple[int, int]:
    """A compilation for these devices, and an execution with its arguments."""
    compilation = app.finished_compilation(devices=app.named(*devices))
    return compilation, app.ready_execution(compilation)


def _behind(app: ScriptedApp, execution: int, *events: int, duration: int = 0) -> int:
    answer = start_with_dependencies(app, execution, events, duration)
    event = started(app, "execution_start_compute_with_dependencies", answer)
    return int(app.call_and_free(event, "event_wait", event)) if event else answer.result


def _behind_a_failed_event(app: ScriptedApp, device: str) -> _Scene:
    compilation, execution = _ready(app, device)
    _, broken = _ready(app, "broken")
    return _Scene(app, compilation, execution, partial(_behind, app, execution, app.started(broken)))


def _behind_a_failed_fence(app: ScriptedApp, device: str) -> _Scene:
    compilation, execution = _ready(app, device)
    gate = app.context.fence()
    gate.fail()
    event = app.made("event_create_from_sync_fence_fd", gate, 1, True)
    return _Scene(app, compilation, execution, partial(_behind, app, execution, event))


def _of_unwritten_memory(app: ScriptedApp, device: str) -> _Scene:
    """A copy that is refused leaves memory without a value."""
    compilation = app.finished_compilation(devices=app.named(device))
    memory, execution = memory_for_sum(app, compilation), app.execution(compilation)
    longer, _ = app.shared_memory(64)
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, ADDENDS[1]), VECTOR_BYTES)
    app.set_output(execution)

    def fail() -> int:
        app.refused("memory_copy", ResultCode.BAD_DATA, longer, memory)
        return app.compute(execution)

    return _Scene(app, compilation, execution, fail, partial(fill, app, memory, (1.0, 2.0)), (ResultCode.OP_FAILED,))


def _behind_its_duration(app: ScriptedApp, device: str) -> _Scene:
    compilation, execution = _ready(app, device)
    missed = ResultCode.MISSED_DEADLINE_TRANSIENT, ResultCode.MISSED_DEADLINE_PERSISTENT
    return _Scene(app, compilation, execution, partial(_behind, app, execution, duration=1), codes=missed)


def _of_an_open_output(app: ScriptedApp, device: str) -> _Scene:
    """Fences want shapes that are known; without them the output may be open."""
    model = app.finished_model(VECTOR, UNKNOWN_DIMENSION)
    compilation = app.finished_compilation(model, app.named(device))
    execution = app.ready_execution(compilation)
    return _Scene(app, compilation, execution, partial(_behind, app, execution), codes=(ResultCode.BAD_DATA,))


def _in_turn(kind: str, status: ErrorStatus = ErrorStatus.GENERAL_FAILURE) -> tuple[Misbehaviour, ...]:
    """A driver that fails in every second execution, from the first on."""
    return tuple(Misbehaviour("execute", kind, int(status), first=2 * turn + 1, count=1) for turn in range(_MOST_TURNS))


def _of_a_moody_driver(app: ScriptedApp, way: str) -> _Scene:
    compilation, execution = _ready(app, "moody")
    return _Scene(app, compilation, execution, partial(compute, app, way, execution, compilation))


_REASONS: Mapping[str, tuple[Make, tuple[Misbehaviour, ...]]] = {
    **{
        f"{name}.{word}": (partial(make, device=device), ())
        for name, make in (
            ("failed_event", _behind_a_failed_event),
            ("failed_fence", _behind_a_failed_fence),
            ("unwritten_memory", _of_unwritten_memory),
        )
        for word, device in (("driver", "good"), ("cpu", CPU))
    },
    "duration.cpu": (partial(_behind_its_duration, device=CPU), ()),
    "status": (partial(_of_a_moody_driver, way="compute"), _in_turn("status")),
    "status_asynchronous": (partial(_of_a_moody_driver, way="asynchronous"), _in_turn("status")),
    "status_fenced": (partial(_of_a_moody_driver, way="fenced"), _in_turn("status")),
    "missed": (partial(_of_a_moody_driver, way="compute"), _in_turn("status", ErrorStatus.MISSED_DEADLINE_TRANSIENT)),
    "shapes": (partial(_of_a_moody_driver, way="compute"), _in_turn("shapes")),
    "tight": (partial(_of_a_moody_driver, way="compute"), _in_turn("tight")),
    "fence": (partial(_of_a_moody_driver, way="fenced"), _in_turn("callback")),
    "report": (partial(_of_a_moody_driver, way="fenced"), _in_turn("reports")),
}
"""Reasons to fail, and how the driver fails."""


def _declare(name: str, make: Make, misbehaviours: tuple[Misbehaviour, ...]) -> None:
    @cases.case(f"{name}.reusable", "FW-EXE-003", "FW-EXE-017", since=Version.FL5)
    def again(context: CaseContext) -> None:
        """A reusable execution that has failed is not under way: it has no results, and computes in every way."""
        _again(make(_app(context, *misbehaviours)))

    @cases.case(f"{name}.single", "FW-EXE-002", "FW-EXE-021", since=Version.V1_3)
    def over(context: CaseContext) -> None:
        """Another one is over: it takes no more, and is gone once it is freed."""
        scene = make(_app(context, *misbehaviours))
        scene.fails()
        scene.mend()
        app = scene.app
        app.refused("execution_compute", ResultCode.BAD_STATE, scene.execution)
        app.refused("execution_set_loop_timeout", ResultCode.BAD_STATE, scene.execution, 1)
        before = app.control.live_objects()
        app.free(scene.execution)
        checks.equal(app.control.live_objects(), before - 1, "objects of the runtime behind the free")


def _again(scene: _Scene) -> None:
    app = scene.app
    app.succeed("execution_set_reusable", scene.execution, True)
    for way in ways(app.level):
        scene.fails()
        rank = app.call("execution_get_output_operand_rank", scene.execution, 0, True).result
        if rank != ResultCode.OUTPUT_INSUFFICIENT_SIZE:  # which is due where there was too little room
            app.expect("execution_get_output_operand_rank behind it", rank, ResultCode.BAD_STATE)
        scene.mend()
        scene.computes(way)


for _name, (_make, _misbehaviours) in _REASONS.items():
    _declare(_name, _make, _misbehaviours)


@cases.case("open_output.reusable", "FW-EXE-003", "FW-EXE-022", since=Version.FL5)
def open_output(context: CaseContext) -> None:
    """So does one that fences refuse, whose output has an unknown size; by fences it never computes."""
    scene = _of_an_open_output(_app(context), "good")
    scene.app.succeed("execution_set_reusable", scene.execution, True)
    for way in ways(scene.app.level, finding_shapes=True):
        scene.fails()
        scene.computes(way)


# Refused before it begins


def _over_another_burst(app: ScriptedApp) -> _Scene:
    compilation, execution = _ready(app, "good")
    burst = app.made("burst_create", app.finished_compilation(devices=app.named("good")), True)
    call = partial(_computed_over, app, execution, burst)
    return _Scene(app, compilation, execution, call, codes=(ResultCode.BAD_DATA,))


def _with_a_duration(app: ScriptedApp) -> _Scene:
    compilation, execution = _ready(app, "good", CPU)
    return _Scene(
        app, compilation, execution, partial(_behind, app, execution, duration=1), codes=(ResultCode.BAD_DATA,)
    )


def _over_a_busy_burst(app: ScriptedApp) -> _Scene:
    """The driver holds another execution over the burst for as long as the call lasts."""
    compilation, execution = _ready(app, "moody")
    burst = app.made("burst_create", compilation, True)

    def fail() -> int:
        return _while_in_use(
            app, app.ready_execution(compilation), burst, partial(_computed_over, app, execution, burst)
        )

    return _Scene(app, compilation, execution, fail, codes=(ResultCode.BAD_STATE,))


def _computed_over(app: ScriptedApp, execution: int, burst: int) -> int:
    return int(app.call("execution_burst_compute", execution, burst))


def _while_in_use(app: ScriptedApp, other: int, burst: int, call: Callable[[], int]) -> int:
    """Make a call while another execution is computed over a burst; returns its code."""
    before, is_over = len(app.executions("moody")), threading.Event()

    def held() -> int:
        try:
            return _computed_over(app, other, burst)
        finally:
            is_over.set()

    def calling() -> int:
        while len(app.executions("moody")) == before and not is_over.is_set():
            time.sleep(0)
        try:
            return call()
        finally:
            app.control.release("moody")

    everybody: list[Callable[[], int]] = [held, calling]
    codes = []
    for result in app.context.run_concurrently(everybody):
        if isinstance(result, InterfaceError):
            raise result
        codes.append(result)
    app.expect("execution over the burst", codes[0])
    return codes[1]


_REFUSALS: Mapping[str, Make] = {
    "another_burst": _over_another_burst,
    "duration_of_several": _with_a_duration,
    "busy_burst": _over_a_busy_burst,
}
"""Why a call is refused before the execution has begun."""


def _holding(context: CaseContext, first: int) -> ScriptedApp:
    """An app whose driver holds one execution, the first or the second."""
    return _app(context, Misbehaviour("execute", "blocks", first=first, count=1))


def _declare_refused(name: str, make: Make) -> None:
    @cases.case(f"{name}.reusable", "FW-EXE-003", "FW-EXE-015", "FW-EXE-014", since=Version.FL5)
    def between(context: CaseContext) -> None:
        """A call that is refused between two computations leaves the execution as it was, with its results."""
        scene = make(_holding(context, first=2))
        app = scene.app
        app.succeed("execution_set_reusable", scene.execution, True)
        scene.computes("compute")
        scene.fails()
        app.succeed("execution_get_output_operand_rank", scene.execution, 0, True)
        for way in ways(app.level):
            scene.computes(way)

    @cases.case(f"{name}.single", "FW-EXE-002", "FW-EXE-015", "FW-EXE-014", since=Version.V1_3)
    def before(context: CaseContext) -> None:
        """So it does before the first one: the execution takes what a new one takes, and computes."""
        scene = make(_holding(context, first=1))
        scene.fails()
        scene.app.succeed("execution_set_loop_timeout", scene.execution, 1_000_000_000)
        scene.computes("compute")


for _name, _make in _REFUSALS.items():
    _declare_refused(_name, _make)
