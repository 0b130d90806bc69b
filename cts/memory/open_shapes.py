"""Memory of open shape that gets one shape after the other, by every way in which something is written to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from npu_conformance.cts.lib.runtime.memories import Role, described
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.cts.lib.runtime.sums import packed, unpacked
from npu_conformance.cts.lib.runtime.ways import compute
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.open_shapes", interface="runtime", since=Version.V1_3)

_SIZES = (1, 2, 3)


class _Open:
    """A driver, a compilation of a sum of unknown size, and memory for its first input and its output.

    is_named: the app has named the driver, so that nothing falls back.
    """

    def __init__(self, context: CaseContext, *misbehaviours: Misbehaviour, is_named: bool = True) -> None:
        self.app = app = ScriptedApp(context, driver("one", exec_time=FAST, misbehaviours=misbehaviours))
        devices = app.named("one") if is_named else ()
        self.compilation = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION, UNKNOWN_DIMENSION), devices)
        self.memory, self.other = self._described(), self._described()

    def _described(self) -> int:
        made = described(self.app, [Role(role, self.compilation, 0) for role in ("input", "output")])
        if made is None:
            refusals = {call.status for call in self.app.calls("one", "allocate")} - {ErrorStatus.NONE}
            checks.equal(refusals, set(), "statuses of the driver that was asked to allocate")
            raise NotApplicable("the runtime gives no memory of unknown shape")
        return made

    def written(self, way: str, size: int, *, output: int = 0, is_told: bool = False) -> int:
        """Compute so many ones and as many of their count into memory; returns the code. is_told: the size is said."""
        execution = self._execution(size)
        self.app.succeed("execution_set_input", execution, 0, _of(size), self._floats(size, 1), 4 * size)
        told = _of(size) if is_told else None
        self.app.succeed("execution_set_output_from_memory", execution, 0, told, output or self.memory, 0, 0)
        return compute(self.app, way, execution, self.compilation)

    def read(self, size: int) -> tuple[int, tuple[float, ...]]:
        """Compute with the memory as input, told to be of a size; returns the code, and the sums less the addends."""
        execution, output = self.reading(size)
        code = self.app.compute(execution)
        return code, tuple(value - size for value in unpacked(self.app.memory.read(output, 4 * size)))

    def reading(self, size: int) -> tuple[int, Pointer]:
        """An execution that has its arguments, with the memory as input told to be of a size, and its output."""
        app, execution = self.app, self._execution(size)
        app.succeed("execution_set_input_from_memory", execution, 0, _of(size), self.memory, 0, 0)
        output = place(app.memory, bytes(4 * size))
        app.succeed("execution_set_output", execution, 0, None, output, 4 * size)
        return execution, output

    def _execution(self, size: int) -> int:
        """An execution with its second addend."""
        execution = self.app.execution(self.compilation)
        self.app.succeed("execution_set_input", execution, 1, _of(size), self._floats(size, size), 4 * size)
        return execution

    def _floats(self, size: int, value: float) -> Pointer:
        return place(self.app.memory, packed((value,) * size))

    def holds(self, size: int) -> None:
        """Check that the memory holds so many sums, and has no other shape."""
        app, expected = self.app, (1.0 + size,) * size
        for asked in _SIZES:
            code, found = self.read(asked)
            app.expect(f"an input of {asked}, behind {size}", code, 0 if asked == size else ResultCode.OP_FAILED)
            if asked == size:
                checks.equal(found, expected, f"what the memory holds behind {size}")
        for asked in (size, *(other for other in _SIZES if other != size)):
            target, pool = app.shared_memory(4 * asked)
            code = app.call("memory_copy", self.memory, target)
            app.expect(f"a copy to {asked}, behind {size}", code, 0 if asked == size else ResultCode.BAD_DATA)
            if asked == size:
                checks.equal(unpacked(pool.read(0, 4 * asked)), expected, f"what is copied behind {size}")


def _of(size: int) -> OperandDescription:
    return OperandDescription(OperandType.TENSOR_FLOAT32, 1, (size,))


def _computed(made: _Open, size: int, *, way: str, is_told: bool = False) -> None:
    made.app.expect(f"execution ({way})", made.written(way, size, is_told=is_told))


def _copied(made: _Open, size: int) -> None:
    """Computed elsewhere, and copied."""
    made.app.expect("execution (compute)", made.written("compute", size, output=made.other))
    made.app.succeed("memory_copy", made.other, made.memory)


_WRITERS: Mapping[str, Callable[[_Open, int], None]] = {
    **{way: partial(_computed, way=way) for way in ("compute", "asynchronous", "burst")},
    **{f"{way}_told": partial(_computed, way=way, is_told=True) for way in ("compute", "burst", "fenced")},
    "copy": _copied,
}
"""Ways to write to memory, by the name of their configuration. A fenced execution has to know all shapes."""


@cases.case("each_way", "FW-MEM-007", "FW-MEM-006")
def each_way(context: CaseContext) -> None:
    """Behind each write memory has the shape of that one, whichever it had before, and no other."""
    for name, write in _WRITERS.items():
        with context.configuration(name):
            made = _Open(context)
            for number, size in enumerate((2, 3, 1, 2)):
                (write if number % 3 else _WRITERS["compute"])(made, size)
                made.holds(size)
            made.app.close()


@cases.case("set_before_written", "FW-MEM-007", "FW-MEM-004")
def set_before_written(context: CaseContext) -> None:
    """The shape that counts is that at the computation, not that when the memory was set as an argument."""
    made = _Open(context)
    app = made.app
    for before, then in ((0, 2), (2, 3), (3, 2), (2, 2)):
        with context.configuration(f"{before}_then_{then}"):
            if before:
                _computed(made, before, way="compute")
            waiting = {size: made.reading(size)[0] for size in (2, 3)}
            _computed(made, then, way="compute")
            for size, execution in waiting.items():
                code = app.compute(execution)
                app.expect(f"an input of {size}, behind {then}", code, 0 if size == then else ResultCode.OP_FAILED)


@cases.case("read_again", "FW-MEM-007", "FW-MEM-004", "FW-EXE-003", since=Version.FL5)
def read_again(context: CaseContext) -> None:
    """A reusable execution reads the memory while that has its shape, and fails with OP_FAILED while it has another."""
    made = _Open(context)
    app = made.app
    execution, _ = made.reading(2)
    app.succeed("execution_set_reusable", execution, True)
    for turn, written in enumerate((2, 3, 2, 1, 0, 2)):
        with context.configuration(f"turn{turn}.written{written}"):
            if written:
                _computed(made, written, way="compute")
            else:  # a copy that is refused leaves nothing
                app.refused("memory_copy", ResultCode.BAD_DATA, app.shared_memory(64)[0], made.memory)
            app.expect("execution_compute", app.compute(execution), 0 if written == 2 else ResultCode.OP_FAILED)


@cases.case("by_fallback", "FW-MEM-014", "FW-MEM-007", "FW-PRT-010")
def by_fallback(context: CaseContext) -> None:
    """So it has where the CPU takes over, and the app has said the shape; without, that fails and leaves no value."""
    made = _Open(context, Misbehaviour("execute", first=3), is_named=False)
    _computed(made, 2, way="compute")
    made.app.expect("an input of 2, behind 2", made.read(2)[0])
    for size in (3, 1, 2):
        for way in ("compute", "fenced"):
            _computed(made, size, way=way, is_told=True)
            made.holds(size)
        made.app.expect("an output of unknown shape", made.written("compute", size), ResultCode.OP_FAILED)
        made.app.refused("memory_copy", ResultCode.BAD_DATA, made.memory, made.app.shared_memory(4 * size)[0])
