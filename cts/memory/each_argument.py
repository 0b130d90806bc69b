"""Memory from descriptors among other arguments: each of an execution counts, whatever stands before and behind it.

An argument lies behind a pointer, in a memory object, or in memory from a descriptor. Inputs of the last kind have to
hold a value of their shape, and outputs hold one once the execution has succeeded, whichever of the arguments they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from npu_conformance.cts.lib.runtime.described_sums import content_of, fill, memory_of_roles
from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing
from npu_conformance.cts.lib.runtime.sums import Floats, packed
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.each_argument", interface="runtime", since=Version.V1_3)

_TWO = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,))
_VALUES: tuple[Floats, ...] = ((1.0, 2.0), (10.0, 20.0), (100.0, 200.0))
_SUMS: tuple[Floats, ...] = ((11.0, 22.0), (110.0, 220.0), (101.0, 202.0))
"""The inputs, and the outputs: the sums of any two of them."""
_PAIRS = ((0, 1), (1, 2), (0, 2))
_PLACES = ("pointer", "object", "descriptor")
_OPERANDS = 7


def _layouts() -> Iterator[tuple[str, ...]]:
    """Where three arguments lie: every way in which one at least is in memory from a descriptor."""
    return (each for each in itertools.product(_PLACES, repeat=3) if "descriptor" in each)


def _named(layout: Sequence[str]) -> str:
    return "_".join(layout)


def _model(app: RuntimeApp, operand: OperandDescription = _TWO) -> int:
    """Three sums of three inputs. Operands: 0 to 2 the inputs, 3 the activation, 4 to 6 the outputs."""
    model = app.empty_model()
    for number in range(_OPERANDS):
        app.succeed("model_add_operand", model, ACTIVATION if number == len(_VALUES) else operand)
    app.succeed("model_set_operand_value", model, 3, place(app.memory, bytes(4)), 4)
    for output, (left, right) in enumerate(_PAIRS, start=4):
        app.succeed("model_add_operation", model, OperationType.ADD, (left, right, 3), (output,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1, 2), (4, 5, 6))
    app.succeed("model_finish", model)
    return model


@dataclass
class _Arguments:
    """The arguments of executions of one compilation. memories: those from descriptors, by side and index."""

    app: RuntimeApp
    compilation: int
    memories: dict[tuple[str, int], int] = field(default_factory=dict)

    def memory(self, side: str, index: int) -> int:
        """The memory for an argument, which is made where it is missing."""
        if (side, index) not in self.memories:
            made = memory_of_roles(self.app, [Role(side, self.compilation, index)])
            self.memories[side, index] = made
        return self.memories[side, index]

    def set_inputs(self, execution: int, layout: Sequence[str], described: OperandDescription | None = None) -> None:
        """Set the inputs; memory from descriptors stays as it is."""
        app = self.app
        for index, (kind, value) in enumerate(zip(layout, _VALUES, strict=True)):
            if kind == "pointer":
                data = place(app.memory, packed(value))
                app.succeed("execution_set_input", execution, index, described, data, VECTOR_BYTES)
                continue
            memory = self.memory("input", index)
            length = 0
            if kind == "object":
                memory, length = app.shared_memory(VECTOR_BYTES, packed(value))[0], VECTOR_BYTES
            app.succeed("execution_set_input_from_memory", execution, index, described, memory, 0, length)

    def set_outputs(self, execution: int, layout: Sequence[str]) -> None:
        """Set the outputs."""
        app = self.app
        for index, kind in enumerate(layout):
            if kind == "pointer":
                data = place(app.memory, bytes(VECTOR_BYTES))
                app.succeed("execution_set_output", execution, index, None, data, VECTOR_BYTES)
            elif kind == "object":
                memory = app.shared_memory(VECTOR_BYTES)[0]
                app.succeed("execution_set_output_from_memory", execution, index, None, memory, 0, VECTOR_BYTES)
            else:
                memory = self.memory("output", index)
                app.succeed("execution_set_output_from_memory", execution, index, None, memory, 0, 0)

    def has_value(self, side: str, index: int, value: Floats) -> None:
        """Check that memory from a descriptor holds a value."""
        what = f"{side} {index}, in memory from a descriptor"
        checks.equal(content_of(self.app, self.memory(side, index)), value, what)

    def has_no_value(self, side: str, index: int) -> None:
        """Check that it holds none."""
        target, _ = self.app.shared_memory(VECTOR_BYTES)
        self.app.refused("memory_copy", ResultCode.BAD_DATA, self.memory(side, index), target)


def _compilations(app: RuntimeApp) -> dict[str, int]:
    """A compilation of the sums by default, and one for the named CPU."""
    model = _model(app)
    return {"default": app.finished_compilation(model), "named": app.finished_compilation(model, (app.cpu(),))}


@cases.case("inputs_without_a_value", "FW-MEM-004")
def inputs_without_a_value(context: CaseContext) -> None:
    """One input without a value fails the execution, wherever it stands and wherever the others lie."""
    _judge_inputs(context, [way for way in ways(context.manifest.feature_level) if way != "fenced"])


@cases.case("inputs_without_a_value_behind_fences", "FW-MEM-004", "FW-EXE-023")
def inputs_without_a_value_behind_fences(context: CaseContext) -> None:
    """So it does where the execution has dependencies."""
    _judge_inputs(context, ["fenced"])


def _judge_inputs(context: CaseContext, chosen: Sequence[str]) -> None:
    """chosen: ways to compute, which take turns."""
    app, turns = RuntimeApp(context), itertools.cycle(chosen)
    for name, compilation in _compilations(app).items():
        for layout in _layouts():
            with context.configuration(f"{name}.{_named(layout)}"):
                for empty in _described(layout):
                    _judge_empty(_Arguments(app, compilation), layout, empty, next(turns))


def _judge_empty(arguments: _Arguments, layout: Sequence[str], empty: int, way: str) -> None:
    app = arguments.app
    for index in _described(layout):
        if index != empty:
            fill(app, arguments.memory("input", index), _VALUES[index])
    for expected in (ResultCode.OP_FAILED, ResultCode.NO_ERROR):
        execution = app.execution(arguments.compilation)
        arguments.set_inputs(execution, layout)
        arguments.set_outputs(execution, ("descriptor",) * 3)
        code = compute(app, way, execution, arguments.compilation)
        app.expect(f"{way}, where input {empty} has {'no' if expected else 'a'} value", code, expected)
        fill(app, arguments.memory("input", empty), _VALUES[empty])
    for index, value in enumerate(_SUMS):
        arguments.has_value("output", index, value)


@cases.case("inputs_of_another_shape", "FW-MEM-007")
def inputs_of_another_shape(context: CaseContext) -> None:
    """So does one input whose value has another shape than the execution says."""
    for layout in _layouts():
        for wrong in _described(layout):
            with context.configuration(f"{_named(layout)}.{wrong}"):
                app = ScriptedApp(context, driver("one", exec_time=FAST))
                compilation = app.finished_compilation(_model(app, UNKNOWN_DIMENSION), app.named("one"))
                arguments = _Arguments(app, compilation)
                for index in _described(layout):
                    roles = [Role("input", compilation, index), Role("output", compilation, 0)]
                    arguments.memories["input", index] = memory_of_roles(app, roles)
                    _write(arguments, index, 3 if index == wrong else 2)
                _read(arguments, layout, ResultCode.OP_FAILED)
                _write(arguments, wrong, 2)
                _read(arguments, layout, ResultCode.NO_ERROR)
                app.close()


def _write(arguments: _Arguments, index: int, size: int) -> None:
    """Have an execution write so many floats to the memory of an input."""
    app, described = arguments.app, OperandDescription(OperandType.TENSOR_FLOAT32, 1, (size,))
    execution = app.execution(arguments.compilation)
    for number in range(len(_VALUES)):
        addend = place(app.memory, packed((1.0,) * size))
        app.succeed("execution_set_input", execution, number, described, addend, 4 * size)
    memory = arguments.memories["input", index]
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 0, 0)
    _spare_outputs(app, execution, 1, 2, size=4 * size)
    app.expect("an execution that writes", app.compute(execution))


def _read(arguments: _Arguments, layout: Sequence[str], expected: ResultCode) -> None:
    app = arguments.app
    execution = app.execution(arguments.compilation)
    arguments.set_inputs(execution, layout, _TWO)
    _spare_outputs(app, execution, 0, 1, 2, size=VECTOR_BYTES)
    app.expect("an execution that reads", app.compute(execution), expected)


def _spare_outputs(app: RuntimeApp, execution: int, *indexes: int, size: int) -> None:
    for index in indexes:
        app.succeed("execution_set_output", execution, index, None, place(app.memory, bytes(size)), size)


@cases.case("outputs", "FW-MEM-004", "FW-MEM-006")
def outputs(context: CaseContext) -> None:
    """Each output in memory from a descriptor holds its value once the execution has succeeded, and not before."""
    app = RuntimeApp(context)
    turns = itertools.cycle(ways(app.level))
    for name, compilation in _compilations(app).items():
        for layout in _layouts():
            with context.configuration(f"{name}.{_named(layout)}"):
                arguments, way = _Arguments(app, compilation), next(turns)
                execution = _with_outputs(arguments, layout)
                for index in _described(layout):
                    arguments.has_no_value("output", index)
                app.expect(way, compute(app, way, execution, compilation))
                for index in _described(layout):
                    arguments.has_value("output", index, _SUMS[index])


@cases.case("outputs_of_a_failure", "FW-MEM-005")
def outputs_of_a_failure(context: CaseContext) -> None:
    """Where the execution fails none of them does, whatever they held; and each does behind the next success."""
    for layout in _layouts():
        with context.configuration(_named(layout)):
            app = ScriptedApp(context, driver("moody", exec_time=FAST, **failing("execute", first=2, count=1)))
            arguments = _Arguments(app, app.finished_compilation(_model(app), app.named("moody")))
            for succeeds in (True, False, True):
                code = app.compute(_with_outputs(arguments, layout))
                app.expect("execution_compute", code, ResultCode.NO_ERROR if succeeds else ResultCode.OP_FAILED)
                for index in _described(layout):
                    if succeeds:
                        arguments.has_value("output", index, _SUMS[index])
                    else:
                        arguments.has_no_value("output", index)
            app.close()


def _with_outputs(arguments: _Arguments, layout: Sequence[str]) -> int:
    """An execution with all its arguments, the inputs behind pointers."""
    execution = arguments.app.execution(arguments.compilation)
    arguments.set_inputs(execution, ("pointer",) * 3)
    arguments.set_outputs(execution, layout)
    return execution


def _described(layout: Sequence[str]) -> list[int]:
    return [index for index, kind in enumerate(layout) if kind == "descriptor"]
