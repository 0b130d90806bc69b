"""Memory objects over shared memory and hardware buffers, as arguments of executions."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.memories import object_of
from npu_conformance.cts.lib.runtime.sums import FIRST, SECOND, TOTAL, compilation_of_sum, packed, unpacked
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.nnapi.models import memory_object
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.objects", interface="runtime")

_PAGE = 4096
_PART = 1 << 16
"""Of mapped memory: a multiple of every size of pages, as its offset has to be."""
_READ = 1
_CONTENT = packed(FIRST) + packed(SECOND) + bytes(8)


def _execution(app: RuntimeApp, compilation: int, inputs: int, output: int, at: tuple[int, int, int]) -> int:
    """An execution of the sum with its arguments in memory objects. at: offsets of both addends and of the sum."""
    execution = app.execution(compilation)
    for index in range(2):
        app.succeed("execution_set_input_from_memory", execution, index, None, inputs, at[index], 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, at[2], 8)
    return execution


@cases.case("whole", "FW-GEN-001", "FW-MEM-010", scope=Scope.SMOKE)
def whole(context: CaseContext) -> None:
    """All arguments lie in one memory object; every way to compute gives the sum."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            memory, pool = app.shared_memory(24, _CONTENT)
            execution = _execution(app, compilation, memory, memory, (0, 8, 16))
            app.expect(way, compute(app, way, execution, compilation))
            checks.equal(unpacked(pool.read(0, 24)), (*FIRST, *SECOND, *TOTAL), "the memory")


@cases.case("sizes", "FW-GEN-001")
def sizes(context: CaseContext) -> None:
    """Objects of any size, of pages or not, take arguments at their very end, and nothing else in them changes."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for size in (24, 100, _PAGE - 4, _PAGE, _PAGE + 4, 5 * _PAGE + 12):
        with context.configuration(f"size{size}"):
            pool = context.pool(size)
            pool.write(0, b"\xa5" * size)
            pool.write(size - 24, _CONTENT)
            memory = object_of(app, pool.memory)
            places = (size - 24, size - 16, size - 8)
            app.expect("compute", app.compute(_execution(app, compilation, memory, memory, places)))
            checks.equal(unpacked(pool.read(size - 8, 8)), TOTAL, "the sum")
            checks.equal(set(pool.read(0, size - 24)) - {FILL}, set(), "bytes in front of the arguments")


@cases.case("offset_of_descriptor", "FW-GEN-001", "FW-MEM-010")
def offset_of_descriptor(context: CaseContext) -> None:
    """An object over a later part of a descriptor's memory begins there."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    pool = context.pool(3 * _PART)
    for pages in (1, 2):
        with context.configuration(f"page{pages}"):
            start = pages * _PART
            pool.write(start + 64, _CONTENT)
            part = replace(pool.memory, offset=pool.memory.offset + start, size=_PART)
            memory = app.owns("memory_create_from_fd", memory_object(app.runtime, part))
            app.expect("compute", app.compute(_execution(app, compilation, memory, memory, (64, 72, 80))))
            checks.equal(unpacked(pool.read(start + 80, 8)), TOTAL, "the sum")


@cases.case("read_only", "FW-GEN-001")
def read_only(context: CaseContext) -> None:
    """Inputs may lie in memory that is mapped for reading alone."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            pool = context.pool(16)
            pool.write(0, _CONTENT[:16])
            readable = memory_object(app.runtime, replace(pool.memory, prot=_READ))
            app.owns("memory_create_from_fd", readable)
            target, result = app.shared_memory(8)
            execution = _execution(app, compilation, readable, target, (0, 8, 0))
            app.expect(way, compute(app, way, execution, compilation))
            checks.equal(unpacked(result.read(0, 8)), TOTAL, "the sum")


@cases.case("twins", "FW-MEM-010", "FW-API-003")
def twins(context: CaseContext) -> None:
    """Objects that are made of one descriptor are objects each: one is freed, the others and their values stay."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    pool = context.pool(24)
    pool.write(0, _CONTENT)
    twins = [object_of(app, pool.memory) for _ in range(3)]
    for number, freed in enumerate(twins[:2], start=1):
        app.free(freed)
        pool.write(16, bytes(8))
        left = twins[number]
        app.expect("compute", app.compute(_execution(app, compilation, left, twins[-1], (0, 8, 16))))
        checks.equal(unpacked(pool.read(16, 8)), TOTAL, "the sum behind the free of another object of the descriptor")


@cases.case("own_duplicate", "FW-MEM-010")
def own_duplicate(context: CaseContext) -> None:
    """An object stays usable when the app has closed the descriptor that it was made of."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    inputs = context.pool(16)
    inputs.apart = True
    inputs.write(0, _CONTENT[:16])
    memory = object_of(app, inputs.memory)
    inputs.close()
    target, result = app.shared_memory(8)
    app.expect("compute", app.compute(_execution(app, compilation, memory, target, (0, 8, 0))))
    checks.equal(unpacked(result.read(0, 8)), TOTAL, "the sum")


@cases.case("shared", "FW-GEN-001", "FW-MDL-029")
def shared(context: CaseContext) -> None:
    """One object serves executions of several compilations at once, one after the other writing what others read."""
    app = RuntimeApp(context)
    compilations = [compilation_of_sum(app) for _ in range(3)]
    memory, pool = app.shared_memory(16 + 8 * len(compilations), _CONTENT[:16])
    for number, compilation in enumerate(compilations):
        before = 8 * number + 8 if number else 0
        places = (before, 8, 16 + 8 * number)
        app.expect("compute", app.compute(_execution(app, compilation, memory, memory, places)))
    expected = tuple(FIRST[index % 2] + (index // 2 + 1) * SECOND[index % 2] for index in range(6))
    checks.equal(unpacked(pool.read(16, 24)), expected, "the sums")


@cases.case("two_objects_of_one_pool", "FW-GEN-001")
def two_objects_of_one_pool(context: CaseContext) -> None:
    """Two objects of the same descriptor are two views of the same bytes."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    pool = context.pool(24)
    pool.write(0, _CONTENT)
    first, second = object_of(app, pool.memory), object_of(app, pool.memory)
    app.expect("compute", app.compute(_execution(app, compilation, first, second, (0, 8, 16))))
    checks.equal(unpacked(pool.read(16, 8)), TOTAL, "the sum")
    app.free(first)
    app.expect("compute", app.compute(_execution(app, compilation, second, second, (16, 8, 0))))
    checks.equal(unpacked(pool.read(0, 8)), (2.0, 6.0), "the second sum")


@cases.case("outside", "FW-MDL-017", "FW-EXE-007")
def outside(context: CaseContext) -> None:
    """Regions that reach past the end of an object are refused, and the execution can be given others."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory, pool = app.shared_memory(24, _CONTENT)
    execution = app.execution(compilation)
    for offset in (17, 20, 24, 1 << 20, 2**64 - 4):
        bad = ("execution_set_input_from_memory", ResultCode.BAD_DATA, execution, 0, None, memory, offset, 8)
        app.refused(*bad)
        app.refused(bad[0].replace("input", "output"), *bad[1:])
    for index in range(2):
        app.succeed("execution_set_input_from_memory", execution, index, None, memory, 8 * index, 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 16, 8)
    app.expect("compute", app.compute(execution))
    checks.equal(unpacked(pool.read(16, 8)), TOTAL, "the sum")


@cases.case("hardware_buffer", "FW-MEM-013", since=Version.V1_2)
def hardware_buffer(context: CaseContext) -> None:
    """Arguments lie in a hardware buffer of the BLOB format, at offsets, as in any memory."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            pool = context.pool(64, "hardware_buffer_blob")
            pool.write(16, _CONTENT)
            memory = _of_hardware_buffer(app, pool)
            execution = _execution(app, compilation, memory, memory, (16, 24, 32))
            app.expect(way, compute(app, way, execution, compilation))
            checks.equal(unpacked(pool.read(32, 8)), TOTAL, "the sum")


@cases.case("pixels_are_whole", "FW-MEM-013", "FW-MDL-018", since=Version.V1_2)
def pixels_are_whole(context: CaseContext) -> None:
    """A hardware buffer of pixels is no constant, and is used as a whole: a part of it is refused."""
    app = RuntimeApp(context)
    memory = _of_hardware_buffer(app, context.pool(64, "hardware_buffer"))
    execution = app.execution(compilation_of_sum(app))
    for offset, length in ((0, 8), (8, 8), (8, 0)):
        function = "execution_set_input_from_memory"
        app.refused(function, ResultCode.BAD_DATA, execution, 0, None, memory, offset, length)
    model = app.operands_of_add()
    app.refused("model_set_operand_value_from_memory", ResultCode.BAD_DATA, model, 0, memory, 0, 8)


@cases.case("pixels_are_not_copied", "FW-MEM-013", "FW-MEM-005", since=Version.V1_3)
def pixels_are_not_copied(context: CaseContext) -> None:
    """A hardware buffer of pixels is copied neither way: whoever knows its layout is behind the drivers."""
    app = RuntimeApp(context)
    refusals = (ResultCode.BAD_DATA, ResultCode.UNMAPPABLE)
    for size in (1, 8):
        pixels, others = (context.pool(size, "hardware_buffer") for _ in range(2)), [app.shared_memory(size)[0]]
        first, second = (_of_hardware_buffer(app, pool) for pool in pixels)
        for other in (*others, second):
            for source, target in ((first, other), (other, first)):
                app.expect("memory_copy", app.call("memory_copy", source, target), *refusals)


@cases.case("pixels_are_not_copied_to_descriptors", "FW-MEM-013", "FW-MEM-005", since=Version.V1_3)
def pixels_are_not_copied_to_descriptors(context: CaseContext) -> None:
    """Nor is it copied to memory from a descriptor, which is uninitialised behind the attempt, or from it."""
    app = RuntimeApp(context)
    pixels, memory = _of_hardware_buffer(app, context.pool(8, "hardware_buffer")), app.initialised_memory()
    refusals = (ResultCode.BAD_DATA, ResultCode.UNMAPPABLE)
    app.expect("memory_copy", app.call("memory_copy", memory, pixels), *refusals)
    app.expect("memory_copy", app.call("memory_copy", pixels, memory), *refusals)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, app.shared_memory(8)[0])


def _of_hardware_buffer(app: RuntimeApp, pool: Pool) -> int:
    return app.made("memory_create_from_a_hardware_buffer", pool.memory, True)
