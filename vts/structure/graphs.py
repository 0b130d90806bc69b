"""Rules of operations, graphs and extensions: P1 to P4, G1 to G6, X2 and X5."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    ExtensionNameAndPrefix,
    Model,
    Operation,
    Subgraph,
)
from npu_conformance.specs.versions import HIDL_LAST, OLDEST, Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.structure_cases import cases_of
from npu_conformance.vts.lib.structure_models import (
    ADD,
    EXTENSION,
    INPUT,
    MAPPING,
    OUTPUT,
    RELU,
    TEMPORARY,
    Row,
    beside,
    broken,
    constant,
    graph,
    sound,
    tensor,
    unary,
    vague,
    with_operand,
    with_operations,
)

_T, _V, _Op = OperandType, Version, OperationType


def cases() -> Iterator[Case]:
    """One case for each model."""
    return cases_of(rows())


def rows() -> Iterator[Row]:
    """Every row of these rules."""
    yield from _codes()
    yield from _signatures()
    yield from _lists()
    yield from _order()
    yield from _consumers()
    yield from _extensions()
    yield from _borderless()


def _pack() -> Model:
    axis = constant(_T.INT32, [], 0, 4)
    operands = [axis, tensor(lifetime=INPUT), tensor(lifetime=OUTPUT, dimensions=[1, 2])]
    return Model(graph(operands, [Operation(_Op.PACK, (0, 1), (2,))]), operand_values=bytes(4))


def _reverse() -> Model:
    operands = [tensor(lifetime=INPUT), constant(_T.TENSOR_INT32, [1], 0, 4), tensor(lifetime=OUTPUT)]
    return Model(graph(operands, [Operation(_Op.REVERSE, (0, 1), (2,))]), operand_values=bytes(4))


def _transpose() -> Model:
    operands = [
        tensor(lifetime=INPUT, dimensions=[1, 2]),
        constant(_T.TENSOR_INT32, [2], 0, 8),
        tensor(lifetime=OUTPUT, dimensions=[1, 2]),
    ]
    return Model(graph(operands, [Operation(_Op.TRANSPOSE, (0, 1), (2,))]), operand_values=bytes(8))


def _oem() -> Model:
    operands = [tensor(_T.TENSOR_OEM_BYTE, lifetime=INPUT), tensor(lifetime=OUTPUT)]
    return Model(graph(operands, [Operation(_Op.OEM_OPERATION, (0,), (1,))]))


def _codes() -> Iterator[Row]:
    news = {
        "transpose": (_transpose(), _V.V1_0, _V.V1_1),
        "abs": (unary(_Op.ABS), _V.V1_1, _V.V1_2),
        "hard_swish": (unary(_Op.HARD_SWISH), _V.V1_2, _V.V1_3),
        "pack": (_pack(), _V.FL5, _V.FL6),
        "reverse": (_reverse(), _V.FL6, _V.FL7),
    }
    for name, (model, last, first) in news.items():
        yield broken("P1", f"{name}_too_old", model, "MODEL-006", until=last)
        yield sound("P1", name, model, since=first)
    yield sound("P1", "oem", _oem(), until=HIDL_LAST)
    yield broken("P1", "oem_in_aidl", replace(RELU, main=_coded(RELU, _Op.OEM_OPERATION)), "MODEL-004", since=_V.FL5)
    for name, code in {"behind_the_last": 106, "9999": 9999, "sign_bit": 1 << 31, "minus_1": -1}.items():
        # HIDL counts in unsigned numbers: its sign bit belongs to an extension, which is X5's.
        since = _V.FL5 if code < 0 or code > 9999 else OLDEST
        yield broken("P1", name, replace(RELU, main=_coded(RELU, code)), "MODEL-006", since=since)
    yield broken("P1", "extension_too_old", replace(RELU, main=_coded(RELU, EXTENSION)), "MODEL-006", until=_V.V1_1)


def _coded(model: Model, code: int) -> Subgraph:
    return edits.with_operation(model, 0, type=code).main


def _signatures() -> Iterator[Row]:
    for value, since in ((2, OLDEST), (2**31 - 1, OLDEST), (-1, _V.FL5)):
        name = "minus_1" if value < 0 else str(value)
        output = edits.with_operation(RELU, 0, outputs=(1, value))
        yield broken("P2", f"input_{name}", edits.with_operation(RELU, 0, inputs=(0, value)), "MODEL-038", since=since)
        yield broken("P2", f"output_{name}", output, "MODEL-039", since=since)
    tanh = unary(_Op.TANH, _T.TENSOR_QUANT8_ASYMM, scale=1 / 128, zero_point=128)
    yield broken("P3", "types_of_1_2", tanh, "MODEL-044", until=_V.V1_1)
    yield broken("P3", "scalar_for_tensor", unary(_Op.RELU, _T.FLOAT32, ()), "MODEL-044")
    mixed = with_operand(RELU, 1, type=_T.TENSOR_INT32)
    yield broken("P3", "other_output_type", mixed, "MODEL-044")
    foreign = replace(unary(_Op.RELU, EXTENSION), extension_name_to_prefix=MAPPING)
    yield broken("P3", "extension_type", foreign, "EXTENSION-009", since=_V.V1_2)
    yield broken("P3", "input_added", with_operations(RELU, Operation(_Op.RELU, (0, 0), (1,))), "MODEL-041")
    yield broken("P3", "input_removed", with_operations(RELU, Operation(_Op.RELU, (), (1,))), "MODEL-040")
    second = beside(tensor(lifetime=OUTPUT))
    yield broken("P3", "output_added", with_operations(second, Operation(_Op.RELU, (0,), (1, 2))), "MODEL-043")
    both = replace(_oem(), main=_writing(_oem(), 1, 0))
    yield broken("P4", "input_of_oem", both, "MODEL-045", until=HIDL_LAST)
    yield broken("P4", "input_of_extension", _writes_input(), "MODEL-045", since=_V.V1_2)
    unused = with_operations(beside(tensor(lifetime=INPUT)), *RELU.main.operations, Operation(_Op.RELU, (0,), (2,)))
    yield broken("P4", "input", unused, "MODEL-045")


def _extended() -> Model:
    """An operation of an extension, unknown to every device."""
    return replace(unary(EXTENSION, EXTENSION), extension_name_to_prefix=MAPPING)


def _writes_input() -> Model:
    return replace(_extended(), main=_writing(_extended(), 1, 0))


def _writing(model: Model, *outputs: int) -> Subgraph:
    return edits.with_operation(model, 0, outputs=outputs).main


def _lists() -> Iterator[Row]:
    sides = {"input": (0, 1, "input_indexes"), "output": (1, 0, "output_indexes")}
    for name, (own, other, field) in sides.items():
        lists = {
            "twice": ((own, own), "MODEL-053"),
            "missing": ((), "MODEL-052"),
            "behind_the_end": ((own, 2), "MODEL-051"),
            "of_other_lifetime": ((own, other), "MODEL-052"),
            "huge": ((own, 2**31 - 1), "MODEL-051"),
        }
        for what, (indexes, requirement) in lists.items():
            yield broken("G1", f"{name}_{what}", edits.with_main(RELU, **{field: indexes}), requirement)
        negative = edits.with_main(RELU, **{field: (own, -1)})
        yield broken("G1", f"{name}_minus_1", negative, "MODEL-051", since=_V.FL5)
        wrong = edits.with_main(ADD, **{field: (*getattr(ADD.main, field), 3)})
        yield broken("G1", f"temporary_as_{name}", wrong, "MODEL-052")
        wrong = edits.with_main(ADD, **{field: (*getattr(ADD.main, field), 1)})
        yield broken("G1", f"constant_as_{name}", wrong, "MODEL-052")
        one_of_two = beside(tensor(lifetime=INPUT))
        if name == "input":
            yield broken("G1", "second_input_missing", edits.with_main(one_of_two, input_indexes=(0,)), "MODEL-052")
            yield sound("G1", "in_any_order", edits.with_main(one_of_two, input_indexes=(2, 0)), "MODEL-052")


def _order() -> Iterator[Row]:
    backwards = edits.with_main(ADD, operations=ADD.main.operations[::-1])
    yield sound("G3", "in_order", ADD, "MODEL-046")
    yield broken("G3", "wrong_order", backwards, "MODEL-046")
    first, second = ADD.main.operations
    own = with_operations(ADD, replace(first, inputs=(3, 1, 2)), second)
    yield broken("G3", "its_own_output", own, "MODEL-047")
    later = with_operations(ADD, replace(first, inputs=(4, 1, 2)), second)
    yield broken("G3", "output_of_a_later_one", later, "MODEL-047")
    lonely = with_operations(beside(tensor(), ADD), replace(first, inputs=(5, 1, 2)), second)
    yield broken("G3", "temporary_nobody_writes", lonely, "MODEL-046")
    again = with_operations(ADD, first, second, Operation(_Op.RELU, (3,), (4,)))
    yield broken("G4", "output_again", again, "MODEL-048")
    temporary = with_operations(ADD, first, Operation(_Op.RELU, (0,), (3,)), second)
    yield broken("G4", "temporary_again", temporary, "MODEL-048")
    twice = replace(_extended(), main=_writing(_extended(), 1, 1))
    yield broken("G4", "twice_by_one", twice, "MODEL-048", since=_V.V1_2)
    read, write, another = (Operation(_Op.RELU, *places) for places in (((0,), (2,)), ((1,), (0,)), ((1,), (0,))))
    early = Model(graph([tensor(), tensor(lifetime=INPUT), tensor(lifetime=OUTPUT)], [write, read]))
    yield sound("G3", "temporary_in_first_place", early, "MODEL-046")
    yield broken("G3", "temporary_in_first_place", with_operations(early, read, write), "MODEL-046")
    yield broken("G4", "temporary_in_first_place", with_operations(early, write, another, read), "MODEL-048")
    yield broken("G6", "unused_temporary", beside(tensor()), "MODEL-049")
    yield broken("G6", "output", beside(tensor(lifetime=OUTPUT)), "MODEL-049", "MODEL-055")
    dangling = with_operations(beside(tensor(), ADD), first, second, Operation(_Op.RELU, (0,), (5,)))
    yield sound("G6", "temporary_nobody_reads", dangling)
    reading = with_operations(beside(tensor(lifetime=OUTPUT), ADD), first, second, Operation(_Op.RELU, (4,), (5,)))
    yield sound("G3", "output_read_again", reading, "MODEL-046")


def _consumers() -> Iterator[Row]:
    twice = with_operations(ADD, Operation(_Op.ADD, (0, 0, 2), (3,)), ADD.main.operations[1])
    yield sound("G5", "read_twice", twice, "MODEL-050")
    once = edits.with_operand(twice, 0, number_of_consumers=1)
    yield broken("G5", "read_twice_counted_once", once, "MODEL-050", until=HIDL_LAST)
    for index, operand in enumerate(ADD.main.operands):
        for change in (-1, 1) if operand.number_of_consumers else (1,):
            count = operand.number_of_consumers + change
            model = edits.with_operand(ADD, index, number_of_consumers=count)
            yield broken("G5", f"operand{index}_counted_{count}", model, "MODEL-050", until=HIDL_LAST)


def _borderless() -> Iterator[Row]:
    """Graphs that take nothing, or give nothing."""
    operands = [constant(_T.TENSOR_FLOAT32, [2], 0, 8), tensor(lifetime=OUTPUT)]
    constants = Model(graph(operands, RELU.main.operations), operand_values=bytes(8))
    yield vague("G7", "no_inputs", constants, "MODEL-054")
    yield vague("G7", "no_outputs", with_operand(RELU, 1, lifetime=TEMPORARY), "MODEL-054")


def _extensions() -> Iterator[Row]:
    since = _V.V1_2
    one, two, three = "com.vendor.one", "com.vendor.two", "com.vendor.three"
    yield sound("X5", "operation", _extended(), "EXTENSION-001", since=since)
    wrong = {
        "name_twice": ((one, 1), (one, 2)),
        "name_twice_apart": ((one, 1), (two, 2), (one, 3)),
        "prefix_twice": ((one, 1), (two, 1)),
        "prefix_twice_apart": ((one, 1), (three, 3), (two, 1)),
        "prefix_0": ((one, 1), (two, 0)),
    }
    for name, pairs in wrong.items():
        yield broken("X2", name, _mapped(*pairs), "EXTENSION-004", since=since)
    for name, prefix in {"prefix_2_15": 1 << 15, "prefix_minus_1": -1}.items():
        model = _mapped((one, 1), (two, prefix))
        yield broken("X2", name, model, "EXTENSION-003", since=_V.FL5)
    yield sound("X2", "two", _mapped((one, 1), (two, 2)), "EXTENSION-004", since=since)
    yield sound("X2", "prefix_2_15_less_1", _mapped((one, 1), (two, 2**15 - 1)), "EXTENSION-003", since=since)
    last = _mapped((one, 1), (two, 2**16 - 1))
    yield sound("X2", "prefix_2_16_less_1", last, "EXTENSION-002", since=since, until=HIDL_LAST)
    unused = replace(beside(tensor(EXTENSION, lifetime=INPUT)), extension_name_to_prefix=MAPPING)
    unmapped = {
        "unmapped_operation": replace(RELU, main=_coded(RELU, EXTENSION)),
        "unmapped_type": replace(unused, extension_name_to_prefix=()),
        "type_of_another": replace(unused, extension_name_to_prefix=(ExtensionNameAndPrefix(two, 2),)),
        "operation_of_another": _mapped_to(RELU, 2),
    }
    for name, model in unmapped.items():
        yield broken("X5", name, model, "EXTENSION-007", since=since)
    yield sound("X5", "second_mapping", _mapped((two, 2), (one, 1)), "EXTENSION-001", since=since)
    yield sound("X5", "unused_mapping", replace(RELU, extension_name_to_prefix=MAPPING), since=since)


def _mapped(*pairs: tuple[str, int]) -> Model:
    mapping = tuple(ExtensionNameAndPrefix(name, prefix) for name, prefix in pairs)
    return replace(_extended(), extension_name_to_prefix=mapping)


def _mapped_to(model: Model, prefix: int) -> Model:
    coded = replace(model, main=_coded(model, EXTENSION))
    return replace(coded, extension_name_to_prefix=(ExtensionNameAndPrefix("com.vendor.one", prefix),))
