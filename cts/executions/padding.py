"""Padding and alignment, since feature level 5: buffers that are longer than their operands."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    SECOND,
    TOTAL,
    compilation_of_sum,
    execution_of_sum,
    packed,
    unpacked,
)
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.padding", interface="runtime")

_PADDED = 64
_GARBAGE = b"\xff" * (_PADDED - 8)


@cases.case("pointers", "FW-EXE-007", since=Version.FL5)
def pointers(context: CaseContext) -> None:
    """With padding, longer buffers behind pointers give the same sum; what lies in the padding does not count."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            execution = _padded(app, compilation)
            for index, addend in enumerate((FIRST, SECOND)):
                data = place(app.memory, packed(addend) + _GARBAGE)
                app.succeed("execution_set_input", execution, index, None, data, _PADDED)
            output = place(app.memory, bytes(_PADDED))
            app.succeed("execution_set_output", execution, 0, None, output, _PADDED)
            app.expect(way, compute(app, way, execution, compilation))
            _check(app, output)


@cases.case("objects", "FW-EXE-007", since=Version.FL5)
def objects(context: CaseContext) -> None:
    """With padding, longer regions of a memory object give the same sum."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            execution = _padded(app, compilation)
            content = packed(FIRST) + _GARBAGE + packed(SECOND) + _GARBAGE
            memory, pool = app.shared_memory(3 * _PADDED, content)
            for index in range(2):
                function = "execution_set_input_from_memory"
                app.succeed(function, execution, index, None, memory, index * _PADDED, _PADDED)
            app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 2 * _PADDED, _PADDED)
            app.expect(way, compute(app, way, execution, compilation))
            checks.equal(unpacked(pool.read(2 * _PADDED, 8)), TOTAL, "the sum")


@cases.case("of_any_length", "FW-EXE-007", since=Version.FL5)
def of_any_length(context: CaseContext) -> None:
    """Padding may be of one byte, of an odd number, and much longer than the operand."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for length in (9, 63, 65, 129, 5000):
        with context.configuration(f"length{length}"):
            execution = _padded(app, compilation)
            for index, addend in enumerate((FIRST, SECOND)):
                data = place(app.memory, packed(addend) + b"\xff" * (length - 8))
                app.succeed("execution_set_input", execution, index, None, data, length)
            output = place(app.memory, bytes(length))
            app.succeed("execution_set_output", execution, 0, None, output, length)
            app.expect("execution_compute", app.compute(execution))
            checks.equal(unpacked(app.memory.read(output, 8)), TOTAL, "the sum")


def _padded(app: RuntimeApp, compilation: int) -> int:
    execution = app.execution(compilation)
    app.succeed("execution_enable_input_and_output_padding", execution, True)
    return execution


def _check(app: RuntimeApp, output: Pointer) -> None:
    checks.equal(unpacked(app.memory.read(output, 8)), TOTAL, "the sum")


@cases.case("shorter", "FW-EXE-007", since=Version.FL5)
def shorter(context: CaseContext) -> None:
    """With padding, a buffer that is shorter than its operand is refused as ever."""
    app = RuntimeApp(context)
    execution = _padded(app, compilation_of_sum(app))
    data = place(app.memory, packed(FIRST))
    app.refused("execution_set_input", ResultCode.BAD_DATA, execution, 0, None, data, 4)
    app.refused("execution_set_output", ResultCode.BAD_DATA, execution, 0, None, data, 4)


@cases.case("not_enabled", "FW-EXE-007", "FW-EXE-008", since=Version.FL5)
def not_enabled(context: CaseContext) -> None:
    """Without padding, and where it was switched off again, a longer buffer is refused."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for name, switches in {"never": (), "off": (False,), "off_again": (True, False)}.items():
        with context.configuration(name):
            execution = app.execution(compilation)
            for enable in switches:
                app.succeed("execution_enable_input_and_output_padding", execution, enable)
            data = place(app.memory, packed(FIRST) + bytes(8))
            app.refused("execution_set_input", ResultCode.BAD_DATA, execution, 0, None, data, 16)
            app.refused("execution_set_output", ResultCode.BAD_DATA, execution, 0, None, data, 16)


@cases.case("too_late", "FW-EXE-008", since=Version.FL5)
def too_late(context: CaseContext) -> None:
    """Once an argument is set, or the execution was computed, padding cannot be switched any more."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for name in ("input", "output"):
        with context.configuration(name):
            execution = app.execution(compilation)
            app.set_inputs(execution) if name == "input" else app.set_output(execution)
            function = "execution_enable_input_and_output_padding"
            app.refused(function, ResultCode.BAD_STATE, execution, True)
    for name in ("input", "output"):
        with context.configuration(f"{name}_in_memory"):
            execution, (memory, _) = app.execution(compilation), app.shared_memory(8)
            app.succeed(f"execution_set_{name}_from_memory", execution, 0, None, memory, 0, 8)
            function = "execution_enable_input_and_output_padding"
            app.refused(function, ResultCode.BAD_STATE, execution, True)
    with context.configuration("computed"):
        made = execution_of_sum(app, compilation)
        made.computes()
        app.refused("execution_enable_input_and_output_padding", ResultCode.BAD_STATE, made.execution, True)


@cases.case("preferred", "FW-CMP-009", "FW-CMP-008", since=Version.FL5)
def preferred(context: CaseContext) -> None:
    """What a compilation prefers are powers of two, and arguments laid out so give the sum."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    longest = 1
    for role, count in (("input", 2), ("output", 1)):
        for index in range(count):
            for kind in ("alignment", "padding"):
                function = f"compilation_get_preferred_memory_{kind}_for_{role}"
                value = app.succeed(function, compilation, index, True).value
                is_power = value > 0 and value & (value - 1) == 0
                checks.that(is_power, f"{function}: expected a power of two, found {value}")
                longest = max(longest, value)
            app.refused(function, ResultCode.BAD_DATA, compilation, count, True)
    _computes_in_places_of(app, compilation, max(longest, 8))


def _computes_in_places_of(app: RuntimeApp, compilation: int, size: int) -> None:
    execution = _padded(app, compilation)
    memory, pool = app.shared_memory(3 * size)
    for index, addend in enumerate((FIRST, SECOND)):
        pool.write(index * size, packed(addend))
        app.succeed("execution_set_input_from_memory", execution, index, None, memory, index * size, size)
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 2 * size, size)
    app.expect("compute", app.compute(execution))
    checks.equal(unpacked(pool.read(2 * size, 8)), TOTAL, "the sum")
