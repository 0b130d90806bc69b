"""Rules of requests, one case for each request: broken in one rule, or sound right beside the limit.

A broken request is rejected with INVALID_ARGUMENT; a sound one is executed, and its sum looked at. The model is the
smallest addition in the first type that the device has, with the dimensions that a row asks for. vts.requests has the
edits that AOSP's VTS tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    HardwareBufferDescription,
    Memory,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import NEWEST, OLDEST, Version
from npu_conformance.vts.lib import addition, aosp_verdict, edits
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.rejection import asked_by_text_alone, expect_request_rejected
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, tensor

_SIZE, _POOL, _OUTPUT, _SCALAR = addition.SIZE, 64, 32, 48
_V = Version
Edit = Callable[[Request], Request]
_PIXELS = HardwareBufferDescription(width=4, height=4, layers=1, format=1, stride=4)


@dataclass(frozen=True, slots=True)
class Row:
    """One request. dimensions: of the model's tensors; here and in edits a size of 2 stands for as many elements as the
    type has in SIZE bytes. scalar: the activation is an input.

    elsewhere: where the output lies, if the edit moves it. requirements: ids without their NNHAL-. text_alone: AOSP's
    own driver executes it, or refuses it as something else.
    """

    rule: str
    name: str
    edit: Edit
    requirements: tuple[str, ...]
    dimensions: tuple[int, ...] = (2,)
    since: Version = OLDEST
    until: Version = NEWEST
    sound: bool = False
    scalar: bool = False
    elsewhere: int = _OUTPUT
    text_alone: bool = False


def cases() -> Iterator[Case]:
    """One case for each request, and one with an optional input left out."""
    for row in ROWS:
        yield _case(row.rule, row.name, _runner(row), row.requirements, row.since, row.until, sound=row.sound)
    omitted = ("REQUEST-003",)
    yield _case(
        "R2", "omitted_optional_input", _executes_without_axes, omitted, _V.V1_1, NEWEST, sound=True,
        operation="SQUEEZE", types=("TENSOR_FLOAT32",),
    )  # fmt: skip


def _case(
    rule: str,
    name: str,
    run: Callable[[CaseContext], None],
    requirements: tuple[str, ...],
    since: Version,
    until: Version,
    *,
    sound: bool,
    operation: str = "ADD",
    types: tuple[str, ...] = (),
) -> Case:
    verb = "accepts" if sound else "refuses"
    return Case(
        f"vts.request_structure.{rule}.{verb}_{name}",
        run,
        tuple(f"NNHAL-{one}" for one in requirements),
        f"REQUEST.{rule}: a device {verb} {name.replace('_', ' ')}.",
        since=since,
        until=until,
        group=Group.VALIDATION,
        operations=(operation,),
        types=types,
    )


def _runner(row: Row) -> Callable[[CaseContext], None]:
    def run(context: CaseContext) -> None:
        chosen = addition.supported(context)
        model = _model(row, chosen)
        prepared_model = prepared_or_unsupported(context, model)
        pool = context.pool(_POOL)
        for offset in (0, _POOL - _SIZE):
            pool.write(offset, chosen.packed(addition.A))
        pool.write(16, chosen.packed(addition.B))
        request = _sized(row.edit(_request(row, pool)), chosen)
        if not row.sound:
            verdict = aosp_verdict.with_aosp_verdict(aosp_verdict.verdict_for_rule(row.rule))
            with asked_by_text_alone(context, when=row.text_alone), verdict:
                usual = executors(context.version)[0]
                expect_request_rejected(context, prepared_model, model, request, usual, measure=False)
            return
        execution = execute(context, prepared_model, request, measure=False)
        if execution.status == ErrorStatus.GENERAL_FAILURE and 0 in (row.dimensions or (0,)):
            raise NotSupported("the device does not execute with these open dimensions")
        checks.status(execution.status, {ErrorStatus.NONE}, "execution of the valid request")
        chosen.check(bytes(pool.read(row.elsewhere, _SIZE)), addition.SUM, "sum of the valid request")

    return run


def _model(row: Row, chosen: Addition) -> Model:
    model = chosen.model()
    for index in (0, 1, 3):
        model = edits.with_operand(model, index, dimensions=_of_type(row.dimensions, chosen))
    if not row.scalar:
        return model
    activation = replace(model.main.operands[2], lifetime=OperandLifeTime.SUBGRAPH_INPUT, location=DataLocation())
    operands = (*model.main.operands[:2], activation, model.main.operands[3])
    return edits.with_main(model, operands=operands, input_indexes=(0, 1, 2))


def _request(row: Row, pool: Pool) -> Request:
    """Sizes that the model leaves open are given for the inputs, and for the output where they have to be."""
    given = () if row.dimensions and 0 not in row.dimensions else _complete(row.dimensions)
    inputs = [RequestArgument(location=DataLocation(0, offset, _SIZE), dimensions=given) for offset in (0, 16)]
    if row.scalar:
        inputs.append(RequestArgument(location=DataLocation(0, _SCALAR, 4)))
    output = RequestArgument(location=DataLocation(0, _OUTPUT, _SIZE), dimensions=given)
    return Request(tuple(inputs), (output,), (RequestMemoryPool(pool=pool.memory),))


def _sized(request: Request, chosen: Addition) -> Request:
    """The request with sizes of the type."""
    inputs, outputs = (
        tuple(replace(one, dimensions=_of_type(one.dimensions, chosen)) for one in arguments)
        for arguments in (request.inputs, request.outputs)
    )
    return replace(request, inputs=inputs, outputs=outputs)


def _of_type(dimensions: tuple[int, ...], chosen: Addition) -> tuple[int, ...]:
    return tuple(chosen.elements if size == 2 else size for size in dimensions)


def _complete(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    """Open dimensions with sizes for two elements."""
    return {(): (2,), (0,): (2,), (0, 2): (1, 2), (0, 0): (1, 2)}[dimensions]


def _executes_without_axes(context: CaseContext) -> None:
    axes = tensor(OperandType.TENSOR_INT32, [1], INPUT)
    operands = [tensor(dimensions=[1, 2], lifetime=INPUT), axes, tensor(lifetime=OUTPUT)]
    model = Model(graph(operands, [Operation(OperationType.SQUEEZE, (0, 1), (2,))]))
    prepared_model = prepared_or_unsupported(context, model)
    pool = context.pool(_POOL)
    pool.write(0, addition.packed(addition.A))
    inputs = (RequestArgument(location=DataLocation(0, 0, _SIZE)), RequestArgument(has_no_value=True))
    outputs = (RequestArgument(location=DataLocation(0, _OUTPUT, _SIZE)),)
    request = Request(inputs, outputs, (RequestMemoryPool(pool=pool.memory),))
    execution = execute(context, prepared_model, request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution without an optional input")
    checks.equal(addition.unpacked(bytes(pool.read(_OUTPUT, _SIZE))), addition.A, "what SQUEEZE without axes gives")


def _input(position: int = 0, **fields: Any) -> Edit:
    def edit(request: Request) -> Request:
        inputs = list(request.inputs)
        inputs[position] = replace(inputs[position], **fields)
        return replace(request, inputs=tuple(inputs))

    return edit


def _output(**fields: Any) -> Edit:
    return lambda request: replace(request, outputs=(replace(request.outputs[0], **fields),))


def _at(*location: int) -> dict[str, DataLocation]:
    return {"location": DataLocation(*location)}


def _same(request: Request) -> Request:
    return request


def _as_kind(kind: str, description: HardwareBufferDescription) -> Edit:
    """The pool claims to be a hardware buffer."""

    def edit(request: Request) -> Request:
        pool = request.pools[0].pool
        assert pool is not None
        claimed: Memory = replace(pool, kind=kind, description=description)
        return replace(request, pools=(RequestMemoryPool(pool=claimed),))

    return edit


def _in_device_buffer(token: int, *location: int) -> Edit:
    """The output lies in a buffer of the device, which has never given out such a token."""
    place = _at(1, *location)

    def edit(request: Request) -> Request:
        moved = _output(**place)(request)
        return replace(moved, pools=(*moved.pools, RequestMemoryPool(None, token)))

    return edit


_OPEN, _RANKLESS, _HALF_OPEN, _ROW = (0,), (), (0, 2), (1, 2)


def _arguments() -> Iterator[Row]:
    """Rules of each argument, for an input and for the output."""
    sides: dict[str, tuple[Callable[..., Edit], int]] = {"input": (_input, 0), "output": (_output, _OUTPUT)}
    for name, (edit, offset) in sides.items():
        for what, place in {"pool": (1, 0, 0), "offset": (0, 8, 0), "length": (0, 0, _SIZE)}.items():
            omitted = edit(has_no_value=True, **_at(*place))
            yield Row("R2", f"omitted_{name}_with_{what}", omitted, ("REQUEST-003",))
        omitted = edit(has_no_value=True, location=DataLocation(), dimensions=(2,))
        yield Row("R2", f"omitted_{name}_with_dimensions", omitted, ("REQUEST-003",))
        padded = edit(has_no_value=True, **_at(0, 0, 0, 8))
        yield Row("R2", f"omitted_{name}_with_padding", padded, ("REQUEST-003",), since=_V.FL5)
        beyond = edit(**_at(0, _POOL - _SIZE + 1, _SIZE))
        yield Row("R3", f"{name}_one_byte_beyond", beyond, ("REQUEST-005",))
        negative: dict[str, tuple[str, tuple[int, ...]]] = {
            "pool": ("REQUEST-004", (-1, 0, _SIZE)),
            "offset": ("REQUEST-005", (0, -8, _SIZE)),
            "length": ("REQUEST-005", (0, 16, -8)),
            "padding": ("REQUEST-006", (0, 8, 8, -4)),
        }
        for what, (rule, numbers) in negative.items():
            yield Row("R3", f"{name}_negative_{what}", edit(**_at(*numbers)), (rule, "ROBUST-002"), since=_V.FL5)
        padded = edit(**_at(0, offset, _SIZE, _POOL - offset - _SIZE + 1))
        yield Row("R3", f"{name}_padding_one_byte_beyond", padded, ("REQUEST-006",), since=_V.FL5)
        padded = edit(**_at(0, offset, _SIZE, _POOL - offset - _SIZE))
        yield Row("R3", f"{name}_padding_to_the_end", padded, ("REQUEST-006",), since=_V.FL5, sound=True)
        yield from _dimensions(name, edit)


def _dimensions(name: str, edit: Callable[..., Edit]) -> Iterator[Row]:
    equal = edit(dimensions=(2,))
    yield Row("R4", f"{name}_of_equal_dimensions", equal, ("REQUEST-008",), sound=True)
    for size in (1, 3):
        yield Row("R4", f"{name}_of_size_{size}", edit(dimensions=(size,)), ("REQUEST-008",))
    yield Row("R4", f"{name}_of_as_many_elements", edit(dimensions=(2, 1)), ("REQUEST-008",), _ROW)
    other = edit(dimensions=(1, 3))
    yield Row("R4", f"{name}_of_other_size_beside_open", other, ("REQUEST-008",), _HALF_OPEN)
    yield Row("R4", f"{name}_of_other_rank_open", edit(dimensions=(1, 1, 2)), ("REQUEST-007",), _HALF_OPEN)
    for shape, model in (((-2,), _OPEN), ((-1, 2), _HALF_OPEN)):
        negative = edit(dimensions=shape)
        yield Row("R4", f"{name}_negative_rank_{len(shape)}", negative, ("REQUEST-008",), model, since=_V.FL5)


def _rows() -> Iterator[Row]:
    yield from _arguments()
    last = _input(location=DataLocation(0, _POOL - _SIZE, _SIZE))
    yield Row("R3", "input_up_to_the_last_byte", last, ("REQUEST-005",), sound=True)
    end = _POOL - _SIZE
    last = _output(location=DataLocation(0, end, _SIZE))
    yield Row("R3", "output_up_to_the_last_byte", last, ("REQUEST-005",), sound=True, elsewhere=end)
    scalar = _input(2, dimensions=(1,))
    yield Row("R4", "dimensions_of_a_scalar", scalar, ("REQUEST-007",), scalar=True, text_alone=True)
    yield Row("R4", "scalar_without_dimensions", _same, ("REQUEST-007",), scalar=True, sound=True)
    for dimensions, name, since in (
        (_OPEN, "size", OLDEST),
        (_HALF_OPEN, "one_size", OLDEST),
        (_RANKLESS, "rank", _V.V1_2),
    ):
        yield Row("R5", f"given_{name}", _same, ("REQUEST-009",), dimensions, since, sound=True)
        absent = _input(dimensions=())
        yield Row("R5", f"input_without_{name}", absent, ("REQUEST-009",), dimensions, since)
        second = _input(1, dimensions=tuple(0 if size == 0 else size for size in dimensions) or (0,))
        yield Row("R4", f"input_of_size_0_for_{name}", second, ("REQUEST-009",), dimensions, since)
        absent = _output(dimensions=())
        yield Row("R5", f"open_output_{name}", absent, ("REQUEST-011",), dimensions, max(since, _V.V1_2), sound=True)
        if since < _V.V1_2:
            yield Row(
                "R5", f"output_without_{name}", absent, ("REQUEST-010",), dimensions, until=_V.V1_1, text_alone=True
            )
    zero = _output(dimensions=(0,))
    yield Row("R4", "output_of_size_0_too_old", zero, ("REQUEST-010",), _OPEN, until=_V.V1_1, text_alone=True)
    yield Row("R4", "open_output_of_size_0", zero, ("REQUEST-011",), _OPEN, _V.V1_2, sound=True)
    half = _output(dimensions=(0, 2))
    yield Row("R4", "open_output_beside_known", half, ("REQUEST-011",), _HALF_OPEN, _V.V1_2, sound=True)
    pixels = _as_kind("hardware_buffer", _PIXELS)
    yield Row("R3", "offset_in_pixels", pixels, ("REQUEST-015",), since=_V.V1_2, until=_V.V1_3, text_alone=True)
    pixels = _as_kind("hardwareBuffer", _PIXELS)
    yield Row("R3", "offset_in_pixels_of_aidl", pixels, ("REQUEST-015",), since=_V.FL5)
    yield Row("R8", "token_0", _in_device_buffer(0), ("MEMDOMAIN-023", "REQUEST-016"), since=_V.V1_3)
    yield Row("R8", "token_minus_1", _in_device_buffer(-1), ("MEMDOMAIN-023", "REQUEST-016"), since=_V.FL5)
    for name, place in {"offset": (8, 0), "length": (0, _SIZE)}.items():
        moved = _in_device_buffer(12345, *place)
        yield Row("R3", f"{name}_in_device_buffer", moved, ("REQUEST-015",), since=_V.V1_3)


ROWS = tuple(_rows())
"""Every request that the suite makes."""
