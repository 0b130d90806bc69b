"""One place in memory that an app gives several times: by one pointer, one object, or several objects of one file.

Arguments that are inputs may share a place, wholly or in part, and outputs may lie elsewhere in the same memory. What
is freed of several objects takes nothing from the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from npu_conformance.cts.lib.runtime.fixture import VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.memories import object_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.cts.lib.runtime.sums import Floats, compilation_of_sum, packed, unpacked
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.one_place", interface="runtime", since=Version.V1_2)

_CONTENT: Floats = (1.0, 20.0, 300.0, 4000.0)
_SIZE, _OUTPUT = 32, 24
"""Of the memory; and where in it an output goes, behind what is read."""
_HALS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Where the two inputs lie. objects: of how many memory objects, 0 for pointers. offsets: of both, in bytes."""

    objects: int
    offsets: tuple[int, int]

    @property
    def total(self) -> Floats:
        """Their sum."""
        left, right = (_CONTENT[offset // 4 : offset // 4 + 2] for offset in self.offsets)
        return tuple(one + other for one, other in zip(left, right, strict=True))


_INPUTS: Mapping[str, _Inputs] = {
    f"{name}.{overlap}": _Inputs(objects, offsets)
    for name, objects in (("pointers", 0), ("object", 1), ("objects", 2))
    for overlap, offsets in (("same", (0, 0)), ("overlapping", (0, 4)), ("reversed", (4, 0)), ("apart", (0, 8)))
}
_OUTPUTS = ("pointer", "object", "another_object", "elsewhere")
"""Where the output goes: behind a pointer, by the object of the first input, by another of its file, or to another."""


@dataclass
class _Scene:
    """An execution with its arguments. objects: of the file in which the inputs lie. sum_of: reads the output."""

    app: RuntimeApp
    compilation: int
    execution: int
    objects: list[int]
    sum_of: Callable[[], bytes]

    def computes(self, way: str, expected: Floats) -> None:
        """Compute, and check the sum."""
        self.app.expect(way, compute(self.app, way, self.execution, self.compilation))
        checks.equal(unpacked(self.sum_of()), expected, "the sum")


def _scene(app: RuntimeApp, compilation: int, inputs: _Inputs, output: str) -> _Scene:
    pool = app.pool(_SIZE)
    pool.write(0, packed(_CONTENT))
    objects = [object_of(app, pool.memory) for _ in range(max(inputs.objects, 1))]
    execution = app.execution(compilation)
    pointer = place(app.memory, packed(_CONTENT))
    for index, offset in enumerate(inputs.offsets):
        if inputs.objects:
            memory = objects[index % inputs.objects]
            app.succeed("execution_set_input_from_memory", execution, index, None, memory, offset, VECTOR_BYTES)
        else:
            at = Pointer(pointer.memory, pointer.offset + offset)
            app.succeed("execution_set_input", execution, index, None, at, VECTOR_BYTES)
    return _Scene(app, compilation, execution, objects, _set_output(app, execution, pool, objects, output))


def _set_output(app: RuntimeApp, execution: int, pool: Pool, objects: list[int], output: str) -> Callable[[], bytes]:
    if output == "pointer":
        pointer = place(app.memory, bytes(VECTOR_BYTES))
        app.succeed("execution_set_output", execution, 0, None, pointer, VECTOR_BYTES)
        return partial(app.memory.read, pointer, VECTOR_BYTES)
    memory = objects[0]
    if output == "another_object":
        memory = object_of(app, pool.memory)
    elif output == "elsewhere":
        memory, pool = app.shared_memory(_SIZE)
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, _OUTPUT, VECTOR_BYTES)
    return partial(pool.read, _OUTPUT, VECTOR_BYTES)


@cases.case("of_inputs", "FW-GEN-001", "FW-MEM-010")
def of_inputs(context: CaseContext) -> None:
    """Inputs share a place, and the output lies behind them or elsewhere: by default and on the named CPU."""
    app = RuntimeApp(context)
    compilations = {"default": compilation_of_sum(app), "named": compilation_of_sum(app, devices=(app.cpu(),))}
    turns = itertools.cycle(ways(app.level))
    for (name, compilation), (layout, inputs) in itertools.product(compilations.items(), _INPUTS.items()):
        with context.configuration(f"{name}.{layout}"):
            for output in _OUTPUTS:
                _scene(app, compilation, inputs, output).computes(next(turns), inputs.total)


@cases.case("of_inputs_of_drivers", "FW-GEN-001", "FW-MEM-010")
def of_inputs_of_drivers(context: CaseContext) -> None:
    """So it is where drivers compute, of any version, and in each way."""
    for hal, (layout, inputs) in itertools.product(_HALS, _INPUTS.items()):
        with context.configuration(f"{hal.name.lower()}.{layout}"), context.short_lived():
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            compilation = compilation_of_sum(app, devices=app.named("one"))
            for output, way in itertools.product(_OUTPUTS, ways(app.level)):
                _scene(app, compilation, inputs, output).computes(way, inputs.total)
            app.close()


@cases.case("freed_beside", "FW-API-003", "FW-MEM-010")
def freed_beside(context: CaseContext) -> None:
    """Another object of the same file may be freed before an execution and between two: it reads and writes its own."""
    for hal in _HALS:
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            for devices, way in itertools.product((app.named("one"), (app.cpu(),)), ways(app.level)):
                _judge_freed(app, compilation_of_sum(app, devices=devices), way)
            app.close()


def _judge_freed(app: RuntimeApp, compilation: int, way: str) -> None:
    inputs = _INPUTS["objects.apart"]
    first, second = (_scene(app, compilation, inputs, "another_object") for _ in range(2))
    first.computes(way, inputs.total)
    app.free(first.execution)
    for memory in first.objects:
        app.free(memory)
    second.computes(way, inputs.total)
    pool = app.pool(_SIZE)
    pool.write(0, packed(_CONTENT))
    kept, freed = (object_of(app, pool.memory) for _ in range(2))
    execution, output = app.execution(compilation), place(app.memory, bytes(VECTOR_BYTES))
    for index, offset in enumerate(inputs.offsets):
        app.succeed("execution_set_input_from_memory", execution, index, None, kept, offset, VECTOR_BYTES)
    app.succeed("execution_set_output", execution, 0, None, output, VECTOR_BYTES)
    app.free(freed)
    scene = _Scene(app, compilation, execution, [kept], partial(app.memory.read, output, VECTOR_BYTES))
    scene.computes(way, inputs.total)
