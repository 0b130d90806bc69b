"""Pools that a device rejects, and those that it may: of unknown kinds, without handles, too small, pixels."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, Memory, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare

cases = CaseGroup("vts.memory", group=Group.MEMORY)


@cases.case("request.unknown_kind", "NNHAL-MEMORY-004", "NNHAL-REQUEST-016", until=HIDL_LAST)
def unknown_kind_in_request(context: CaseContext) -> None:
    """A request with a pool of an unknown kind is rejected; in AIDL the kinds are a closed union."""
    prepared_model = addition.supported(context).prepared(context)
    memory = replace(context.pool(addition.POOL).memory, kind="no_such_kind")
    for where, execution in _executed_in_each_place(context, prepared_model, memory):
        what = f"execution with memory of an unknown kind, {where}"
        checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, what)


@cases.case("request.null_handle", "NNHAL-MEMORY-005", "NNHAL-REQUEST-016")
def null_handle_in_request(context: CaseContext) -> None:
    """A request with a pool that has no handle is rejected; in AIDL the transport may reject it first."""
    prepared_model = addition.supported(context).prepared(context)
    memory = replace(context.pool(addition.POOL).memory, token=0)
    rejections = {ErrorStatus.INVALID_ARGUMENT}
    if context.version.is_aidl:
        rejections.add(ErrorStatus.GENERAL_FAILURE)
    for where, execution in _executed_in_each_place(context, prepared_model, memory):
        checks.status(execution.status, rejections, f"execution with a null memory handle, {where}")


@cases.case("request.negative_size", "NNHAL-MEMORY-009", since=Version.FL5)
def negative_size_in_request(context: CaseContext) -> None:
    """A request with a pool of negative size is rejected."""
    prepared_model = addition.supported(context).prepared(context)
    memory = replace(context.pool(addition.POOL).memory, size=-1)
    for where, execution in _executed_in_each_place(context, prepared_model, memory):
        what = f"execution with memory of negative size, {where}"
        checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, what)


@cases.case("model.unknown_kind", "NNHAL-MEMORY-004", until=HIDL_LAST)
def unknown_kind_in_model(context: CaseContext) -> None:
    """A model with a pool of an unknown kind is rejected."""
    memory = replace(context.pool(addition.SIZE).memory, kind="no_such_kind")
    expect_rejected_at_prepare(context, addition.FLOAT32.model_with_constant(memory))


@cases.case("model.constant_beyond_pool", "NNHAL-MODEL-031")
def constant_beyond_pool(context: CaseContext) -> None:
    """A model with a constant that reaches past the end of its pool is rejected."""
    memory = replace(context.pool(addition.SIZE).memory, size=addition.SIZE - 1)
    expect_rejected_at_prepare(context, addition.FLOAT32.model_with_constant(memory))


@cases.case("request.negative_offset", "NNHAL-MEMORY-009", since=Version.FL5)
def negative_offset_in_request(context: CaseContext) -> None:
    """A request with a mapped file of negative offset is rejected."""
    prepared_model = addition.supported(context).prepared(context)
    memory = replace(context.pool(addition.POOL, "mmap_fd").memory, offset=-addition.POOL)
    for where, execution in _executed_in_each_place(context, prepared_model, memory):
        what = f"execution with memory of negative offset, {where}"
        checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, what)


@cases.case("model.negative_size", "NNHAL-MEMORY-009", since=Version.FL5)
def negative_size_in_model(context: CaseContext) -> None:
    """A model with a pool of negative size or offset is rejected."""
    memory = context.pool(addition.SIZE, "mmap_fd").memory
    for invalid in (replace(memory, size=-addition.SIZE), replace(memory, offset=-1)):
        expect_rejected_at_prepare(context, addition.FLOAT32.model_with_constant(invalid))


@cases.case("hardware_buffer.arguments", "NNHAL-MEMORY-007", "NNHAL-MEMORY-008", since=Version.V1_2)
def pixels_as_arguments(context: CaseContext) -> None:
    """A hardware buffer that is no BLOB holds an input, or the output: the execution is right, or fails.

    Such memory is optional (NNHAL-MEMORY-003). Another failure than GENERAL_FAILURE is a quality warning.
    """
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    for name, place in (("input", 0), ("output", 2)):
        with context.configuration(name):
            _adds_in_pixels(context, chosen, prepared_model, place)


def _adds_in_pixels(context: CaseContext, chosen: Addition, prepared_model: PreparedModel, place: int) -> None:
    pools = [context.pool(addition.SIZE, "hardware_buffer" if at == place else "ashmem") for at in range(3)]
    for pool, values in zip(pools, (addition.A, addition.B), strict=False):
        pool.write(0, chosen.packed(values))
    # Pixels have no offsets: they are used as a whole.
    arguments = [RequestArgument(location=DataLocation(at, 0, 0 if at == place else addition.SIZE)) for at in range(3)]
    request = Request(
        tuple(arguments[:2]), tuple(arguments[2:]), tuple(RequestMemoryPool(pool=pool.memory) for pool in pools)
    )
    execution = execute(context, prepared_model, request, measure=False)
    if execution.status == ErrorStatus.NONE:
        chosen.check(bytes(pools[2].read(0, addition.SIZE)), addition.SUM, "sum with a hardware buffer")
    _says_general_failure(context, execution.status, "an execution")


@cases.case(
    "hardware_buffer.constant",
    "NNHAL-MEMORY-006",
    "NNHAL-MEMORY-008",
    "NNHAL-MEMORY-011",
    "NNHAL-SUPPORT-011",
    since=Version.V1_2,
)
def pixels_as_constant(context: CaseContext) -> None:
    """A constant in a hardware buffer that is no BLOB: the preparation fails, and support is better denied before."""
    _expect_constant_rejected(context, context.pool(addition.SIZE, "hardware_buffer").memory)


@cases.case("blob.of_another_format", "NNHAL-MEMORY-012", since=Version.V1_2, until=HIDL_LAST)
def blob_of_another_format(context: CaseContext) -> None:
    """Memory that is called a BLOB and described as pixels is rejected; AIDL has no name that could be wrong."""
    memory = _pixels_called_blob(context, addition.SIZE)
    with context.configuration("constant"):
        _expect_constant_rejected(context, memory)
    with context.configuration("arguments"):
        execution = _executed(
            context, addition.supported(context).prepared(context), _pixels_called_blob(context, addition.POOL)
        )
        _expect_rejected(execution.status, "execution with pixels that are called a BLOB")


def _pixels_called_blob(context: CaseContext, size: int) -> Memory:
    pixels = context.pool(size, "hardware_buffer").memory
    return replace(context.pool(size, "hardware_buffer_blob").memory, description=pixels.description)


@cases.case("handle.of_nothing", "NNHAL-SUPPORT-011", "NNHAL-ROBUST-001")
def handle_of_nothing(context: CaseContext) -> None:
    """A handle behind which there is no memory is rejected, for a constant and for arguments."""
    closed = context.pool(addition.POOL)
    memory = closed.memory
    closed.close()
    with context.configuration("constant"):
        _expect_constant_rejected(context, memory, "NNHAL-ROBUST-001")
    with context.configuration("arguments"), checks.about("NNHAL-ROBUST-001"):
        execution = _executed(context, addition.supported(context).prepared(context), memory)
        _expect_rejected(execution.status, "execution with a handle of nothing")


def _expect_constant_rejected(context: CaseContext, memory: Memory, broken: str = "") -> None:
    """prepareModel fails. Support should have been denied before: the device is looked at for a quality warning.

    broken: the requirement that a prepared model breaks; empty for the one that the case is about.
    """
    model = addition.supported(context).model_with_constant(memory)
    try:
        is_supported = all(context.supported_operations(model))
    except ServiceError as error:
        _expect_rejected(error.status, "getSupportedOperations")
        is_supported = False
    preparation = context.prepare(model)
    with checks.about(*((broken,) if broken else ())):
        checks.that(preparation.prepared_model is None, "prepareModel: expected no prepared model, found one")
    what = "prepareModel of a constant that cannot be read"
    with checks.about("NNHAL-PREPARE-002"):
        returned = f"{what} returned {status_name(preparation.launch_status)}"
        checks.that(preparation.status is not None, f"{returned}: expected a notification, found none")
    with checks.about("NNHAL-PREPARE-007"):
        _expect_rejected(preparation.status or ErrorStatus.NONE, f"{what}, notified without a prepared model")
    if memory.kind.startswith("hardware"):
        _says_general_failure(context, preparation.status or ErrorStatus.NONE, "prepareModel")
    if is_supported:
        context.warn_quality("getSupportedOperations does not notice memory that cannot be read (NNHAL-SUPPORT-011)")


def _expect_rejected(status: int, what: str) -> None:
    checks.that(status != ErrorStatus.NONE, f"{what}: expected a rejection, found NONE")


def _says_general_failure(context: CaseContext, status: int, what: str) -> None:
    if status not in (ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE):
        context.warn_quality(f"{what} fails with {status_name(status)}, not GENERAL_FAILURE, for a hardware buffer")


def _executed(context: CaseContext, prepared_model: PreparedModel, memory: Memory) -> Execution:
    return execute(context, prepared_model, addition.request(memory), measure=False)


def _executed_in_each_place(
    context: CaseContext, prepared_model: PreparedModel, memory: Memory
) -> Iterator[tuple[str, Execution]]:
    """Execute with all arguments in this memory; as the second pool with the output in it, or with nothing."""
    yield "in the only pool", _executed(context, prepared_model, memory)
    right = addition.request(context.pool(addition.POOL).memory)
    (output,) = right.outputs
    behind = replace(output, location=replace(output.location, pool_index=1))
    for what, outputs in (("with the output", (behind,)), ("with nothing", (output,))):
        request = replace(right, outputs=outputs, pools=(*right.pools, RequestMemoryPool(pool=memory)))
        yield f"in the second pool, {what}", execute(context, prepared_model, request, measure=False)
