"""What the cases share: an addition in each type, with buffers, copies, and executions that use them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, timing_rules
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, model_of, prepare
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import (
    ErrorStatus,
    ExecutionPreference,
    OperandLifeTime,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.hal import Device, DeviceBuffer, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    BufferDesc,
    BufferRole,
    DataLocation,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import ADDITIONS, SIZE, Addition, Pair
from npu_conformance.vts.lib.memory_domains.declining import judge_declined

NONE, INVALID, GENERAL = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Allocation:
    """Arguments of allocate; roles as (model, index)."""

    models: tuple[PreparedModel | None, ...]
    inputs: tuple[tuple[int, int], ...] = ()
    outputs: tuple[tuple[int, int], ...] = ()
    dimensions: Shape = ()
    probability: float = 1.0

    def ask(self, device: Device) -> DeviceBuffer:
        """Call allocate; raises what it raises."""
        inputs, outputs = (
            tuple(BufferRole(model, index, self.probability) for model, index in pairs)
            for pairs in (self.inputs, self.outputs)
        )
        return device.allocate(BufferDesc(self.dimensions), self.models, inputs, outputs)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a request: a buffer, its token alone, or a pool that it fills. dimensions: in the request."""

    place: DeviceBuffer | int | Pool
    dimensions: Shape = ()
    location: DataLocation | None = None


class BufferFixture:
    """Additions of one type on one device.

    executor: one of `executors`, the usual one if empty. application: who calls, if it is not the harness itself.
    """

    def __init__(
        self, context: CaseContext, chosen: Addition, executor: str = "", application: Application | None = None
    ) -> None:
        self.context = context
        self.chosen = chosen
        self.executor = executor
        self._application = application
        self.device = context.device_of(application)

    @property
    def elements(self) -> int:
        """Elements of a tensor of SIZE bytes."""
        return self.chosen.elements

    def prepare(self, count: int = 1, dimensions: Shape | None = None, **quantisation: float) -> PreparedModel:
        """Prepare `count` additions side by side, of inputs 2n and 2n + 1 to output n. See `additions`."""
        return self.prepare_model(additions(self.chosen, count, dimensions, **quantisation))

    def prepare_model(self, model: Model) -> PreparedModel:
        """Prepare a model. NotSupported where the device said that it does not support all of it."""
        is_supported = all(self.context.supported_operations(model, device=self.device))
        arguments = PreparationArguments(preference=ExecutionPreference.FAST_SINGLE_ANSWER, priority=Priority.MEDIUM)
        preparation = prepare(self.context.subject, self.device, model, arguments, PreparationRecorder())
        if preparation.prepared_model is not None:
            return preparation.prepared_model
        if is_supported:
            model_of(preparation)
        shapes = ", ".join(str(model.main.operands[index].dimensions) for index in model.main.input_indexes)
        raise NotSupported(f"a model of {self.chosen.operand_type.name} with inputs of shape {shapes} is not supported")

    def allocate(
        self, *models: PreparedModel, inputs: Sequence[int] = (), outputs: Sequence[int] = (), dimensions: Shape = ()
    ) -> DeviceBuffer:
        """A buffer for inputs and outputs of each model. NotApplicable where the device declines, as it may."""
        pairs = [tuple((model, index) for model in range(len(models)) for index in each) for each in (inputs, outputs)]
        return self.allocate_as(Allocation(models, pairs[0], pairs[1], dimensions))

    def allocate_as(self, allocation: Allocation) -> DeviceBuffer:
        """A buffer for valid arguments; its token is positive (NNHAL-MEMDOMAIN-003)."""
        try:
            made = allocation.ask(self.device)
        except ServiceError as error:
            judge_declined(self.context, error)
            raise NotApplicable("the device declines to allocate such a buffer") from None
        with checks.about("NNHAL-MEMDOMAIN-003"):
            checks.that(made.buffer is not None, "allocate: expected a buffer, found null")
            checks.that(made.token > 0, f"allocate: expected a positive token, found {made.token}")
        return made

    def pool(self, data: bytes | int = SIZE, kind: str = "ashmem") -> Pool:
        """Shared memory with these bytes, or of this size."""
        pool = self.context.pool(data if isinstance(data, int) else len(data), kind, self._application)
        if not isinstance(data, int):
            pool.write(0, data)
        return pool

    def copy_from(self, made: DeviceBuffer, data: bytes, dimensions: Shape = (), kind: str = "ashmem") -> int:
        """Copy bytes into a buffer; returns the ErrorStatus."""
        with closing(self.pool(data, kind)) as pool:
            return status_of(lambda: made.buffer.copy_from(pool.memory, dimensions))

    def fill(self, made: DeviceBuffer, values: Pair, dimensions: Shape = ()) -> None:
        """Initialise a buffer of SIZE bytes."""
        checks.status(self.copy_from(made, self.chosen.packed(values), dimensions), {NONE}, "copyFrom")

    def copy_to(self, made: DeviceBuffer, size: int = SIZE) -> int:
        """Copy a buffer out to memory that nobody looks at; returns the ErrorStatus."""
        with closing(self.pool(size)) as pool:
            return status_of(lambda: made.buffer.copy_to(pool.memory))

    def content(self, made: DeviceBuffer, size: int = SIZE, kind: str = "ashmem") -> bytes:
        """The bytes of an initialised buffer."""
        with closing(self.pool(size, kind)) as pool:
            checks.status(status_of(lambda: made.buffer.copy_to(pool.memory)), {NONE}, "copyTo")
            return bytes(pool.read(0, size))

    def filled(self, model: PreparedModel, inputs: Sequence[int] = (0,), outputs: Sequence[int] = ()) -> DeviceBuffer:
        """A buffer of SIZE bytes that holds A."""
        made = self.allocate(model, inputs=inputs, outputs=outputs)
        self.fill(made, addition.A)
        return made

    def holds(self, made: DeviceBuffer, values: Pair, what: str) -> None:
        """Fail unless a buffer of SIZE bytes holds the values."""
        self.chosen.check(self.content(made), values, what)

    def run(
        self, model: PreparedModel, inputs: Sequence[Place], outputs: Sequence[Place], *, executor: str = ""
    ) -> Execution:
        """Execute once. A failure reports no shapes; times were not asked for (NNHAL-REQUEST-017, TIMING-001)."""
        request = request_of(inputs, outputs)
        execution = execute(self.context, model, request, measure=False, executor=executor or self.executor)
        timing_rules(self.context, execution, measured=False)
        if execution.status not in (NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE):
            with checks.about("NNHAL-REQUEST-017"):
                checks.equal(execution.output_shapes, (), "output shapes of a failed execution")
        return execution

    def succeeds(self, model: PreparedModel, inputs: Sequence[Place], outputs: Sequence[Place], what: str) -> None:
        """Fail unless the execution succeeds."""
        checks.status(self.run(model, inputs, outputs).status, {NONE}, what)

    def fails(
        self, model: PreparedModel, inputs: Sequence[Place], outputs: Sequence[Place], status: int, what: str
    ) -> None:
        """Fail unless the execution ends with this status."""
        checks.status(self.run(model, inputs, outputs).status, {status}, what)


Place = DeviceBuffer | int | Pool | Argument
Check = Callable[[BufferFixture], None]


def status_of(call: Callable[[], object]) -> int:
    """The ErrorStatus that a call ends with."""
    try:
        call()
    except ServiceError as error:
        return error.status
    return NONE


def additions(
    chosen: Addition, count: int = 1, dimensions: Shape | None = None, *, scale: float = 0.0, zero_point: float = 0
) -> Model:
    """Additions side by side. dimensions: of all tensors; 0 is unknown. scale, zero_point: others than usual."""
    shape = (chosen.elements,) if dimensions is None else dimensions
    points = int(zero_point) if scale or zero_point else chosen.zero_point
    tensor = Operand(chosen.operand_type, shape, scale or chosen.scale, points)
    summand = replace(tensor, lifetime=OperandLifeTime.SUBGRAPH_INPUT, number_of_consumers=1)
    total = replace(tensor, lifetime=OperandLifeTime.SUBGRAPH_OUTPUT)
    activation = Operand(
        OperandType.INT32,
        lifetime=OperandLifeTime.CONSTANT_COPY,
        location=DataLocation(length=4),
        number_of_consumers=count,
    )
    places = range(1, 1 + 3 * count, 3)
    operations = tuple(Operation(OperationType.ADD, (at, at + 1, 0), (at + 2,)) for at in places)
    inputs = tuple(index for at in places for index in (at, at + 1))
    main = Subgraph(
        (activation, *(summand, summand, total) * count), operations, inputs, tuple(at + 2 for at in places)
    )
    return Model(main=main, operand_values=bytes(4))


def addition_with_activation(chosen: Addition) -> Model:
    """The addition whose fused activation, a scalar, is input 2."""
    model = additions(chosen)
    activation = replace(model.main.operands[0], lifetime=OperandLifeTime.SUBGRAPH_INPUT, location=DataLocation())
    main = replace(
        model.main, operands=(activation, *model.main.operands[1:]), input_indexes=(*model.main.input_indexes, 0)
    )
    return replace(model, main=main, operand_values=b"")


def request_of(inputs: Sequence[Place], outputs: Sequence[Place], unused: Sequence[DeviceBuffer] = ()) -> Request:
    """A request whose arguments are buffers, tokens, or whole pools of shared memory.

    unused: buffers that are pools of it as well, in front of the others.
    """
    pools: list[DeviceBuffer | int | Pool] = [*unused]
    arguments = [
        tuple(_argument(place if isinstance(place, Argument) else Argument(place), pools) for place in places)
        for places in (inputs, outputs)
    ]
    return Request(arguments[0], arguments[1], tuple(map(_request_pool, pools)))


def _argument(argument: Argument, pools: list[DeviceBuffer | int | Pool]) -> RequestArgument:
    place = argument.place
    # The same buffer is the same pool of the request.
    number = next((index for index, known in enumerate(pools) if known is place), len(pools))
    if number == len(pools):
        pools.append(place)
    whole = DataLocation(number, 0, place.memory.size if isinstance(place, Pool) else 0)
    location = whole if argument.location is None else replace(argument.location, pool_index=number)
    return RequestArgument(location=location, dimensions=argument.dimensions)


def _request_pool(place: DeviceBuffer | int | Pool) -> RequestMemoryPool:
    if isinstance(place, Pool):
        return RequestMemoryPool(pool=place.memory)
    return RequestMemoryPool(token=place if isinstance(place, int) else place.token)


def in_each_type(check: Check) -> Callable[[CaseContext], None]:
    """A case of one configuration for each type that the device has."""
    return _case(check, by_executor=False)


def by_each_executor(check: Check) -> Callable[[CaseContext], None]:
    """A case of one configuration for each type that the device has and each executor."""
    return _case(check, by_executor=True)


def _case(check: Check, *, by_executor: bool) -> Callable[[CaseContext], None]:
    @functools.wraps(check)
    def run(context: CaseContext) -> None:
        ways: Collection[str] = executors(context.version) if by_executor else ("",)
        for chosen in types_of(context):
            for executor in ways:
                name = f"{chosen.operand_type.name.lower()}.{executor}".rstrip(".")
                if context.wants(name):
                    with context.configuration(name), context.short_lived():
                        check(BufferFixture(context, chosen, executor))

    return run


def types_of(context: CaseContext) -> list[Addition]:
    """The additions that the device has; NotSupported where it has none."""
    addition.supported(context)
    return [
        chosen
        for chosen in ADDITIONS
        if chosen.since <= context.version and all(context.supported_operations(chosen.model()))
    ]
