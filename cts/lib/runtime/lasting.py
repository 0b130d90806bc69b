"""Calls that have to last until something is let go, and executions that are still pending when their call returns."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.net_app import Compiled, NetApp
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, OperationName, driver, misbehaving
from npu_conformance.cts.lib.runtime.ways import start_with_dependencies, started
from npu_conformance.harness.judge import checks
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import IllegalArgument, InterfaceError
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_TURNS, _MOST_TURNS = 50, 100
"""Threads that begin and end before something is let go. Counted, not timed: whoever does not wait gets ahead of them,
however busy the machine is."""


def lazy(name: str, *operations: OperationName, **fields: Any) -> DriverScript:
    """A driver whose fenced executions compute when somebody waits for them: who reads too early reads nothing."""
    return driver(name, *operations, exec_time=FAST, **misbehaving("execute", "lazy"), **fields)


def outlasting(
    app: ScriptedApp, calls: Sequence[Callable[[], int]], *let_go: Callable[[], object], asked: str = ""
) -> list[int]:
    """Make calls at once, each of which has to last until the last of these was let go; returns their codes.

    asked: a driver that whoever does not wait asks to execute: that is waited for, if it happens soon.
    """
    return _outlasting(app, calls, let_go, partial(pass_turns, app, asked))


def outlasting_alone(app: RuntimeApp, calls: Sequence[Callable[[], int]], *let_go: Callable[[], object]) -> list[int]:
    """As `outlasting`, of a runtime that nobody steers: turns are empty round trips to the process that it is in."""

    def wait() -> None:
        for _ in range(_TURNS):
            _turn(app.context.subject.ping)

    return _outlasting(app, calls, let_go, wait)


def _outlasting(
    app: RuntimeApp,
    calls: Sequence[Callable[[], int]],
    let_go: Sequence[Callable[[], object]],
    wait: Callable[[], None],
) -> list[int]:
    """wait: lets others get ahead before the last is let go."""
    begun = threading.Event()
    order: list[str] = []

    def last(call: Callable[[], int]) -> int:
        begun.set()
        answer = call()
        order.append("a call returned")
        return answer

    def let_all_go() -> int:
        begun.wait()
        *earlier, the_last = let_go
        for each in earlier:
            each()
        wait()
        order.append("the last was let go")
        the_last()
        return ResultCode.NO_ERROR

    everybody: list[Callable[[], int]] = [let_all_go, *(partial(last, call) for call in calls)]
    _, *answers = app.context.run_concurrently(everybody)
    checks.equal(order[0], "the last was let go", "what came first")
    return [_code(answer) for answer in answers]


def _code(answer: int | InterfaceError) -> int:
    if isinstance(answer, InterfaceError):
        raise answer
    return answer


def pass_turns(app: ScriptedApp, asked: str) -> None:
    """Let others get ahead. asked: a driver that one of them asks to execute: that is waited for; empty for none."""
    left = _MOST_TURNS if asked else _TURNS
    while left:
        _turn(partial(app.control.driver_calls, app.driver_names[0]))
        left -= 1
        if asked and app.executions(asked):
            left, asked = _TURNS, ""


def _turn(call: Callable[[], object]) -> None:
    turn = threading.Thread(target=call)
    turn.start()
    turn.join()


class _LettingGo:
    """Lets go what drivers hold when the case ends, before its objects are freed: that waits for computations."""

    def __init__(self, app: ScriptedApp) -> None:
        self._app = app
        app.context.close_later(self)

    def close(self) -> None:
        """Let go."""
        for name in self._app.driver_names:
            with contextlib.suppress(IllegalArgument):  # a later app of the case has set others
                self._app.control.release(name)


@dataclass(frozen=True)
class Pending:
    """An execution of a net whose arguments lie in memory objects, so that no call has to wait for its outputs.

    memories, pools: of the inputs, then of the outputs.
    """

    app: NetApp
    compiled: Compiled
    execution: int
    memories: tuple[int, ...]
    pools: tuple[Pool, ...]

    @property
    def net(self) -> Net:
        """What it computes."""
        return self.compiled.net

    @property
    def output(self) -> tuple[int, Pool]:
        """The memory object and the pool of its last output."""
        return self.memories[-1], self.pools[-1]

    def fill(self, inputs: Mapping[str, Array]) -> None:
        """Put inputs into their memories, and nothing that was computed into those of the outputs."""
        count = len(inputs)
        for array, pool in zip(inputs.values(), self.pools[:count], strict=True):
            pool.write(0, array.tobytes())
        for pool in self.pools[count:]:
            pool.write(0, b"\xa5" * pool.memory.size)

    def again(self) -> int:
        """A further execution with the very same arguments, whose outputs nothing was written to; returns it."""
        self.fill(self.net.inputs)
        execution = self.app.execution(self.compiled.handle)
        _set_memories(self.app, execution, len(self.net.vector.inputs), self.memories, self.pools)
        return execution

    def start(self, *dependencies: int) -> int:
        """Start it behind events; returns its event."""
        answer = start_with_dependencies(self.app, self.execution, dependencies)
        self.app.expect("execution_start_compute_with_dependencies", answer.result)
        return started(self.app, "execution_start_compute_with_dependencies", answer)

    def end(self, event: int) -> int:
        """Wait for its event; returns the code."""
        return int(self.app.call("event_wait", event))

    def check(self, inputs: Mapping[str, Array] | None = None) -> None:
        """Check that it has computed the net's outputs. inputs: in place of the net's own."""
        import numpy

        expected = self.net.expected_of(inputs or self.net.inputs)
        names = self.net.vector.outputs
        for name, pool in zip(names, self.pools[-len(names) :], strict=True):
            array = expected[name]
            found = numpy.frombuffer(pool.read(0, array.nbytes), array.dtype).reshape(array.shape)
            self.app.judge(self.net, {name: found}, expected)


def pending(app: ScriptedApp, compiled: Compiled, *inputs: tuple[int, Pool]) -> Pending:
    """An execution that can be started, and drivers that let go of it when the case ends. inputs: as of `prepared`."""
    made = prepared(app, compiled, *inputs)
    _LettingGo(app)
    return made


def prepared(app: NetApp, compiled: Compiled, *inputs: tuple[int, Pool]) -> Pending:
    """An execution that can be started. inputs: memory objects in place of new ones, from the first input on."""
    vector = compiled.net.vector
    execution = app.execution(compiled.handle)
    places = list(inputs)
    for name in vector.inputs[len(inputs) :]:
        content = compiled.net.inputs[name].tobytes()
        places.append(app.shared_memory(len(content), content))
    for name in vector.outputs:
        size = compiled.net.expected()[name].nbytes
        places.append(app.shared_memory(size, b"\xa5" * size))
    memories, pools = zip(*places, strict=True)
    _set_memories(app, execution, len(vector.inputs), memories, pools)
    return Pending(app, compiled, execution, memories, pools)


def _set_memories(app: NetApp, execution: int, inputs: int, memories: Sequence[int], pools: Sequence[Pool]) -> None:
    """Set the arguments of an execution: the whole of each pool. inputs: how many there are."""
    for number, (memory, pool) in enumerate(zip(memories, pools, strict=True)):
        role, index = ("input", number) if number < inputs else ("output", number - inputs)
        app.succeed(f"execution_set_{role}_from_memory", execution, index, None, memory, 0, pool.memory.size)


def event_of(app: RuntimeApp, execution: int) -> int:
    """Start an execution without fences; returns its event."""
    answer = app.call("execution_start_compute", execution, True)
    app.expect("execution_start_compute", answer.result, ResultCode.NO_ERROR)
    return started(app, "execution_start_compute", answer)
