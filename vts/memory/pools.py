"""Every kind of pool works for inputs, outputs and constants: alone, beside others, in turn, and in parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import bind, execute, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import (
    READ_ONLY,
    DataLocation,
    Memory,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import OLDEST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.sums import sum_of

_behaviours = CaseGroup("vts.memory", group=Group.MEMORY)
_KINDS = {
    "ashmem": (OLDEST, "NNHAL-MEMORY-001"),
    "mmap_fd": (OLDEST, "NNHAL-MEMORY-001"),
    "hardware_buffer_blob": (Version.V1_3, "NNHAL-MEMORY-002"),
}
"""Kinds that a device must map, since when, and by which requirement."""

_PART = 1 << 16
"""Of a mapped file: a multiple of every size of pages, as its offset has to be."""
_FAR = 1 << 16


def cases() -> Iterator[Case]:
    """Each kind as arguments and as constants, then several pools, and parts of them."""
    for kind, (since, requirement) in _KINDS.items():
        yield _kind_case(kind, since, requirement, "arguments", _adds_in)
        yield _kind_case(kind, since, requirement, "constant", _adds_constant_in)
    yield from _behaviours()


def _kind_case(
    kind: str, since: Version, requirement: str, use: str, check: Callable[[CaseContext, str], None]
) -> Case:
    def run(context: CaseContext) -> None:
        check(context, kind)

    more = ("NNHAL-MEMORY-010",) if kind == "hardware_buffer_blob" else ()
    return Case(
        f"vts.memory.{kind}.{use}",
        run,
        (requirement, "NNHAL-EXECUTE-001", *more),
        f"A pool of kind {kind} holds the {use} of an addition.",
        since=since,
        group=Group.MEMORY,
        scope=Scope.SMOKE,
        operations=("ADD",),
        types=("TENSOR_FLOAT32",),
    )


def _adds_in(context: CaseContext, kind: str) -> None:
    chosen, pool = addition.supported(context), context.pool(addition.POOL, kind)
    chosen.adds(context, chosen.prepared(context), pool, what=f"execution with {kind} memory")


def _adds_constant_in(context: CaseContext, kind: str) -> None:
    chosen, constant = addition.supported(context), context.pool(addition.SIZE, kind)
    constant.write(0, chosen.packed(addition.B))
    _adds_constant_of(context, chosen, constant.memory)


def _adds_constant_of(context: CaseContext, chosen: Addition, constant: Memory) -> None:
    """The first bytes of the memory hold B, which is added to A."""
    what = f"execution with a constant in {constant.kind} memory"
    chosen.adds(context, chosen.prepared(context, constant), context.pool(addition.POOL), inputs=1, what=what)


@_behaviours.case("several.pools", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002")
def several_pools(context: CaseContext) -> None:
    """Each argument lies in a pool of its own, wherever that stands in the list; inputs are left as they were."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    for order in itertools.permutations(range(3)):
        pools = [context.pool(addition.POOL) for _ in order]
        first, second, output = (pools[at] for at in order)
        first.write(0, chosen.packed(addition.A))
        second.write(8, chosen.packed(addition.B))
        arguments = [RequestArgument(location=DataLocation(at, 8 * n, addition.SIZE)) for n, at in enumerate(order)]
        in_list = tuple(RequestMemoryPool(pool=pool.memory) for pool in pools)
        request = Request(tuple(arguments[:2]), tuple(arguments[2:]), in_list)
        execution = execute(context, prepared_model, request, measure=False)
        checks.status(execution.status, {ErrorStatus.NONE}, f"execution with arguments in pools {order}")
        chosen.check(bytes(output.read(16, addition.SIZE)), addition.SUM, f"sum of arguments in pools {order}")
        checks.equal(bytes(first.read(0, addition.SIZE)), chosen.packed(addition.A), "first input after the execution")


@_behaviours.case("inputs.read_only", "NNHAL-EXECUTE-010", since=Version.FL5)
def read_only_inputs(context: CaseContext) -> None:
    """Inputs lie in memory that may only be read; a driver must not map it writable (NNHAL-EXECUTE-010)."""
    chosen, inputs, outputs = addition.supported(context), context.pool(addition.POOL), context.pool(addition.POOL)
    chosen.put(inputs)
    request = addition.request(replace(inputs.memory, prot=READ_ONLY))
    place = DataLocation(1, addition.OUTPUT, addition.SIZE)
    request = replace(
        request,
        outputs=(RequestArgument(location=place),),
        pools=(*request.pools, RequestMemoryPool(pool=outputs.memory)),
    )
    execution = execute(context, chosen.prepared(context), request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution with read-only input memory")
    chosen.check(addition.result(outputs), addition.SUM, "sum from read-only memory")


@_behaviours.case("inputs.read_only_in_turn", "NNHAL-EXECUTE-010", "NNHAL-EXECUTE-001", since=Version.FL5)
def read_only_in_turn(context: CaseContext) -> None:
    """One prepared model reads one read-only pool, another one of the same size, and the first one again."""
    _by_pools_in_turn(context, READ_ONLY)


@_behaviours.case("several.in_turn", "NNHAL-EXECUTE-001", "NNHAL-MEMORY-001")
def several_in_turn(context: CaseContext) -> None:
    """One prepared model uses one pool, another one of the same size, and the first one again."""
    _by_pools_in_turn(context)


def _by_pools_in_turn(context: CaseContext, prot: int | None = None) -> None:
    """Add B to A, then to other values in another pool, and so on, by each executor. prot: of the inputs' pools."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    asked = [sum_of(context, chosen, values) for values in (addition.B, (-3.0, 1.5))]
    for executor in executors(context.version):
        with context.configuration(executor):
            for one in (*asked, *asked):
                one.clear()
                inputs, outputs = one.request.pools
                if prot is not None and inputs.pool is not None:
                    inputs = replace(inputs, pool=replace(inputs.pool, prot=prot))
                request = replace(one.request, pools=(inputs, outputs))
                one.check(bind(context, prepared_model, request, executor=executor)(), f"{executor} execution")


@_behaviours.case("large.four_mebibytes", "NNHAL-MEMORY-001")
def large_pool(context: CaseContext) -> None:
    """Arguments may lie at the far end of a pool of four mebibytes."""
    chosen, size = addition.supported(context), 4 << 20
    what = "execution at the end of a large pool"
    chosen.adds(context, chosen.prepared(context), context.pool(size), start=size - _PART, what=what)


@_behaviours.case("model.constant_in_one_of_four", "NNHAL-MEMORY-001", "NNHAL-EXECUTE-001")
def constant_in_one_of_four(context: CaseContext) -> None:
    """A constant lies after the first 64 KiB of any pool of four; all else in them are other values."""
    chosen, start = addition.supported(context), _FAR + addition.SIZE
    decoy = chosen.packed((-3.0, 1.5)) * (2 * _FAR // addition.SIZE)
    for number in range(4):
        pools = [context.filled_pool(decoy) for _ in range(4)]
        pools[number] = context.filled_pool(_with(decoy, start, chosen.packed(addition.B)))
        model = chosen.model_with_constant(*pools, location=DataLocation(number, start, addition.SIZE))
        what = f"execution with a constant in pool {number}"
        chosen.adds(context, prepared_or_unsupported(context, model), context.pool(addition.POOL), inputs=1, what=what)


def _with(data: bytes, start: int, part: bytes) -> bytes:
    return data[:start] + part + data[start + len(part) :]


@_behaviours.case("mmap_fd.offset", "NNHAL-MEMORY-001")
def mapped_behind_the_beginning(context: CaseContext) -> None:
    """A file may be mapped from its second part on, for arguments and for a constant."""
    chosen, pool = addition.supported(context), context.pool(2 * _PART, "mmap_fd")
    memory = replace(pool.memory, offset=_PART, size=_PART)
    chosen.put(pool, start=_PART)
    execution = execute(context, chosen.prepared(context), addition.request(memory), measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution with a mapped file from its second part on")
    chosen.check(addition.result(pool, _PART), addition.SUM, "sum in the second part")
    checks.equal(bytes(pool.read(0, _PART)), bytes(_PART), "first part after the execution")
    pool.write(_PART, chosen.packed(addition.B))
    _adds_constant_of(context, chosen, memory)


@_behaviours.case("mmap_fd.two_parts", "NNHAL-MEMORY-001", "NNHAL-EXECUTE-001")
def two_parts_of_a_file(context: CaseContext) -> None:
    """Two pools of one request, or of one model, may be two parts of one file."""
    chosen, file = addition.supported(context), context.pool(3 * _PART, "mmap_fd")
    parts = [replace(file.memory, offset=page * _PART, size=_PART) for page in range(3)]
    for page, values in enumerate((addition.A, addition.B)):
        file.write(page * _PART, chosen.packed(values))
    inputs = tuple(RequestArgument(location=DataLocation(page, 0, addition.SIZE)) for page in range(2))
    outputs = (RequestArgument(location=DataLocation(2, 0, addition.SIZE)),)
    request = Request(inputs, outputs, tuple(RequestMemoryPool(pool=part) for part in parts))
    prepared_model = chosen.prepared(context)
    for executor in executors(context.version):
        with context.configuration(executor):
            file.write(2 * _PART, bytes(addition.SIZE))
            execution = bind(context, prepared_model, request, executor=executor)()
            checks.status(execution.status, {ErrorStatus.NONE}, "execution with three parts of one file")
            chosen.check(bytes(file.read(2 * _PART, addition.SIZE)), addition.SUM, "sum of two parts of one file")
    with context.configuration("constant"):
        _adds_constant_of_second_part(context, chosen, parts)


def _adds_constant_of_second_part(context: CaseContext, chosen: Addition, parts: list[Memory]) -> None:
    """The model has two pools; its constant lies in the second one, and other data in the first."""
    model = chosen.model_with_constant(*parts[:2], location=DataLocation(1, 0, addition.SIZE))
    prepared_model = prepared_or_unsupported(context, model)
    chosen.adds(context, prepared_model, context.pool(addition.POOL), inputs=1, what="execution with parts of a file")


@_behaviours.case("mmap_fd.read_only_constant", "NNHAL-MEMORY-001")
def read_only_constant(context: CaseContext) -> None:
    """A constant in a file that may only be read is as good as one in a file that may be written."""
    chosen, pool = addition.supported(context), context.pool(addition.SIZE, "mmap_fd")
    pool.write(0, chosen.packed(addition.B))
    chosen.prepared(context, pool.memory)
    memory = replace(pool.memory, prot=READ_ONLY)
    supported = context.supported_operations(chosen.model_with_constant(memory))
    checks.equal(supported, (True,), "getSupportedOperations with a constant in read-only memory")
    _adds_constant_of(context, chosen, memory)
