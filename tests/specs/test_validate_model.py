"""Each structural rule of a model: one small edit that breaks it and nothing else, beside its sound original."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from graphs import INPUT, OUTPUT, change, constant, graph, tensor

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime as Life
from npu_conformance.specs.neuralnetworks.enums import OperandType as T
from npu_conformance.specs.neuralnetworks.enums import OperationType as Op
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Memory,
    Model,
    OperandExtraParams,
    Operation,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.neuralnetworks.validate import structural_rules, validate_model
from npu_conformance.specs.versions import Version

EXTENSION = 0x10005
POOL = Memory(kind="ashmem", size=8, token=7)


def main(model: Model, **fields: Any) -> Model:
    return change(model, main=change(model.main, **fields))


def edit(index: int, **fields: Any) -> Callable[[Model], Model]:
    """An edit of one operand of the main graph."""

    def apply(model: Model) -> Model:
        operands = list(model.main.operands)
        operands[index] = change(operands[index], **fields)
        return main(model, operands=tuple(operands))

    return apply


def locate(index: int, **fields: Any) -> Callable[[Model], Model]:
    """An edit of the location of one operand of the main graph."""
    return lambda model: edit(index, location=change(model.main.operands[index].location, **fields))(model)


def rewire(position: int, **fields: Any) -> Callable[[Model], Model]:
    """An edit of one operation of the main graph; consumer counts are kept right."""

    def apply(model: Model) -> Model:
        operations = list(model.main.operations)
        operations[position] = change(operations[position], **fields)
        made = graph(model.main.operands, operations)
        return main(model, operands=made.operands, operations=tuple(operations))

    return apply


ADD = Model(
    graph(
        [
            tensor(lifetime=INPUT),
            constant(T.TENSOR_FLOAT32, [2], 0, 8),
            constant(T.INT32, [], 8, 4),
            tensor(),
            tensor(lifetime=OUTPUT),
        ],
        [Operation(Op.ADD, (0, 1, 2), (3,)), Operation(Op.RELU, (3,), (4,))],
    ),
    operand_values=bytes(12),
)
"""ADD of an input and a constant, then RELU. Operands: input, constant, activation, sum, output."""

UNUSED = main(ADD, operands=(*ADD.main.operands, constant(T.TENSOR_FLOAT32, [2], 0, 8)))
POOLED = change(edit(1, lifetime=Life.CONSTANT_POOL)(ADD), pools=(POOL,))
QUANT = Model(
    graph(
        [tensor(T.TENSOR_QUANT8_ASYMM, lifetime=life, scale=0.5) for life in (INPUT, OUTPUT)],
        [Operation(Op.RELU, (0,), (1,))],
    )
)
SIGNED = main(QUANT, operands=tuple(change(one, type=T.TENSOR_QUANT8_ASYMM_SIGNED) for one in QUANT.main.operands))
CHANNELS = OperandExtraParams(SymmPerChannelQuantParams((0.5, 0.25), 0))
PER_CHANNEL = Model(
    graph(
        [
            tensor(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, lifetime=INPUT, extra_params=CHANNELS),
            tensor(lifetime=OUTPUT),
        ],
        [Operation(Op.DEQUANTIZE, (0,), (1,))],
    )
)
FLOAT16 = Model(
    graph(
        [
            tensor(T.TENSOR_FLOAT16, [1, 2], INPUT),
            constant(T.FLOAT16, [], 0, 2),
            tensor(T.TENSOR_FLOAT16, [1, 2], OUTPUT),
        ],
        [Operation(Op.SOFTMAX, (0, 1), (2,))],
    ),
    operand_values=bytes(2),
)
EXTENDED = Model(
    graph([tensor(EXTENSION, lifetime=INPUT), tensor(EXTENSION, lifetime=OUTPUT)], [Operation(EXTENSION, (0,), (1,))]),
    extension_name_to_prefix=(ExtensionNameAndPrefix("com.vendor.one", 1),),
)
SQUEEZE = Model(
    graph(
        [
            tensor(dimensions=[1, 2], lifetime=INPUT),
            tensor(T.TENSOR_INT32, [1], Life.NO_VALUE),
            tensor(lifetime=OUTPUT),
        ],
        [Operation(Op.SQUEEZE, (0, 1), (2,))],
    )
)


def mapped(*pairs: tuple[str, int]) -> Callable[[Model], Model]:
    return lambda model: change(
        model, extension_name_to_prefix=tuple(ExtensionNameAndPrefix(name, prefix) for name, prefix in pairs)
    )


@dataclass(frozen=True)
class Broken:
    """A sound model of a version, and an edit that breaks one rule."""

    rule: str
    what: str
    sound: Model
    version: Version
    apply: Callable[[Model], Model]


def channel(scales: tuple[float, ...], dimension: int) -> Callable[[Model], Model]:
    return edit(0, extra_params=OperandExtraParams(SymmPerChannelQuantParams(scales, dimension)))


BLOB = OperandExtraParams(extension=b"x")
BROKEN = [
    Broken(
        "MODEL.M1", "no operations", ADD, Version.V1_0, lambda m: change(m, main=graph([tensor(lifetime=INPUT)], []))
    ),
    Broken("MODEL.M1", "nothing at all", ADD, Version.V1_0, lambda m: change(m, main=Subgraph((), (), (), ()))),
    Broken("MODEL.M3", "unknown kind", POOLED, Version.V1_0, lambda m: change(m, pools=(change(POOL, kind="file"),))),
    Broken(
        "MODEL.M3",
        "kind of 1.2",
        POOLED,
        Version.V1_1,
        lambda m: change(m, pools=(change(POOL, kind="hardware_buffer_blob"),)),
    ),
    Broken("MODEL.M3", "null handle", POOLED, Version.FL5, lambda m: change(m, pools=(change(POOL, token=0),))),
    Broken("MODEL.M3", "negative size", ADD, Version.FL5, lambda m: change(m, pools=(change(POOL, size=-1),))),
    Broken("MODEL.O1", "type of 1.2", UNUSED, Version.V1_1, edit(5, type=T.TENSOR_FLOAT16)),
    Broken("MODEL.O1", "type of 1.3", UNUSED, Version.V1_2, edit(5, type=T.TENSOR_QUANT8_ASYMM_SIGNED)),
    Broken("MODEL.O1", "negative", UNUSED, Version.FL8, edit(5, type=-1)),
    Broken("MODEL.O1", "after the last", UNUSED, Version.FL8, edit(5, type=16)),
    Broken("MODEL.O1", "OEM in AIDL", UNUSED, Version.FL5, edit(5, type=T.TENSOR_OEM_BYTE)),
    Broken("MODEL.O1", "extension before 1.2", UNUSED, Version.V1_1, edit(5, type=EXTENSION)),
    Broken("MODEL.O1", "sign bit of AIDL", UNUSED, Version.FL5, edit(5, type=1 << 31)),
    Broken("MODEL.O2", "scalar with rank", ADD, Version.V1_0, edit(2, dimensions=(1,))),
    Broken("MODEL.O3", "unknown rank in 1.1", ADD, Version.V1_1, edit(0, dimensions=())),
    Broken("MODEL.O3", "constant of unknown rank", ADD, Version.V1_2, edit(1, dimensions=())),
    Broken("MODEL.O4", "float with scale", ADD, Version.V1_0, edit(0, scale=1.0)),
    Broken("MODEL.O4", "float with NaN", ADD, Version.V1_0, edit(0, scale=math.nan)),
    Broken("MODEL.O4", "scale 0", QUANT, Version.V1_0, lambda m: edit(1, scale=0.0)(edit(0, scale=0.0)(m))),
    Broken("MODEL.O4", "negative scale", QUANT, Version.FL8, lambda m: edit(1, scale=-1.0)(edit(0, scale=-1.0)(m))),
    Broken("MODEL.O4", "negative integer scale", SQUEEZE, Version.V1_1, edit(1, scale=-1.0)),
    Broken("MODEL.O4F", "not a number", QUANT, Version.V1_0, edit(0, scale=math.nan)),
    Broken("MODEL.O4F", "infinite", QUANT, Version.V1_0, edit(0, scale=math.inf)),
    Broken("MODEL.O5", "below", QUANT, Version.V1_0, edit(0, zero_point=-1)),
    Broken("MODEL.O5", "above", QUANT, Version.V1_0, edit(0, zero_point=256)),
    Broken("MODEL.O5", "of a float", ADD, Version.V1_0, edit(0, zero_point=1)),
    Broken("MODEL.O5", "signed below", SIGNED, Version.V1_3, edit(0, zero_point=-129)),
    Broken("MODEL.O5", "signed above", SIGNED, Version.V1_3, edit(0, zero_point=128)),
    Broken("MODEL.O5", "per channel", PER_CHANNEL, Version.V1_2, edit(0, zero_point=1)),
    Broken("MODEL.O6", "per-channel type without", PER_CHANNEL, Version.V1_2, edit(0, extra_params=None)),
    Broken("MODEL.O6", "both", PER_CHANNEL, Version.V1_2, edit(0, extra_params=change(CHANNELS, extension=b"x"))),
    Broken("MODEL.O6", "float with channels", ADD, Version.V1_2, edit(0, extra_params=CHANNELS)),
    Broken("MODEL.O6", "float with blob", ADD, Version.V1_2, edit(0, extra_params=BLOB)),
    Broken("MODEL.O6", "extension with channels", EXTENDED, Version.V1_2, edit(0, extra_params=CHANNELS)),
    Broken("MODEL.O6H", "float16 with blob", FLOAT16, Version.V1_2, edit(1, extra_params=BLOB)),
    Broken("MODEL.O7", "dimension outside", PER_CHANNEL, Version.V1_2, channel((0.5, 0.25), 1)),
    Broken("MODEL.O7", "negative dimension", PER_CHANNEL, Version.FL5, channel((0.5, 0.25), -1)),
    Broken("MODEL.O7", "too few scales", PER_CHANNEL, Version.V1_2, channel((0.5,), 0)),
    Broken("MODEL.O7", "unknown size", PER_CHANNEL, Version.V1_2, edit(0, dimensions=(0,))),
    Broken("MODEL.O7", "scale 0", PER_CHANNEL, Version.V1_2, channel((0.5, 0.0), 0)),
    Broken("MODEL.O8", "past the end", ADD, Version.V1_0, locate(1, offset=5)),
    Broken("MODEL.O8", "would wrap", ADD, Version.V1_0, locate(1, offset=2**32 - 8)),
    Broken("MODEL.O8", "negative offset", ADD, Version.FL5, locate(1, offset=-4)),
    Broken("MODEL.O8", "pool", ADD, Version.V1_0, locate(1, pool_index=1)),
    Broken("MODEL.O9", "no such pool", POOLED, Version.V1_0, locate(1, pool_index=1)),
    Broken("MODEL.O9", "past the end", POOLED, Version.V1_0, locate(1, offset=1)),
    Broken("MODEL.O9", "negative offset", POOLED, Version.FL5, locate(1, offset=-1)),
    Broken("MODEL.O10", "input with pool", ADD, Version.V1_0, locate(0, pool_index=1)),
    Broken("MODEL.O10", "temporary with offset", ADD, Version.V1_0, locate(3, offset=4)),
    Broken("MODEL.O10", "output with length", ADD, Version.V1_0, locate(4, length=8)),
    Broken("MODEL.O10", "omitted with length", SQUEEZE, Version.V1_1, locate(1, length=4)),
    Broken("MODEL.O12", "unknown", EXTENDED, Version.V1_2, lambda m: main(edit(0, lifetime=9)(m), input_indexes=())),
    Broken("MODEL.O12", "type without lifetime", EXTENDED, Version.V1_3, edit(0, type=T.SUBGRAPH, dimensions=())),
    Broken("MODEL.O13", "too short", ADD, Version.V1_0, locate(1, length=4)),
    Broken("MODEL.O13", "scalar", ADD, Version.V1_0, locate(2, length=3)),
    Broken("MODEL.O13", "in a pool", POOLED, Version.V1_0, locate(1, length=4)),
    Broken("MODEL.O13D", "unknown size", ADD, Version.V1_0, lambda m: locate(1, length=0)(edit(1, dimensions=(0,))(m))),
    Broken("MODEL.O14", "padding", ADD, Version.FL5, locate(1, padding=4)),
    Broken("MODEL.O15", "negative", ADD, Version.FL5, edit(0, dimensions=(-2,))),
    Broken("MODEL.O15", "too large for AIDL", ADD, Version.FL5, edit(0, dimensions=(2**31,))),
    Broken("MODEL.P1", "operation of 1.1", ADD, Version.V1_0, rewire(1, type=Op.TRANSPOSE)),
    Broken("MODEL.P1", "after the last", ADD, Version.FL8, rewire(1, type=106)),
    Broken("MODEL.P1", "of feature level 6", ADD, Version.FL5, rewire(1, type=Op.PACK)),
    Broken("MODEL.P1", "OEM in AIDL", ADD, Version.FL5, rewire(1, type=Op.OEM_OPERATION)),
    Broken("MODEL.P1", "negative", ADD, Version.FL5, rewire(1, type=-1)),
    Broken("MODEL.P2", "input past the end", ADD, Version.V1_0, rewire(0, inputs=(0, 1, 2, 5))),
    Broken("MODEL.P2", "negative input", ADD, Version.FL5, rewire(0, inputs=(0, 1, 2, -1))),
    Broken("MODEL.P2", "output past the end", ADD, Version.V1_0, rewire(0, outputs=(3, 5))),
    Broken("MODEL.P3", "too many inputs", ADD, Version.V1_0, rewire(0, inputs=(0, 1, 2, 2))),
    Broken("MODEL.P3", "too few inputs", ADD, Version.V1_0, rewire(0, inputs=(0, 1))),
    Broken(
        "MODEL.P3",
        "no output",
        ADD,
        Version.V1_0,
        lambda m: edit(4, lifetime=INPUT)(main(rewire(1, outputs=())(m), input_indexes=(0, 4), output_indexes=())),
    ),
    Broken("MODEL.P3", "wrong type", ADD, Version.V1_0, edit(0, type=T.TENSOR_INT32)),
    Broken("MODEL.P3", "type of a later version", QUANT, Version.V1_1, rewire(0, type=Op.TANH)),
    Broken("MODEL.P3", "extension type in a known operation", EXTENDED, Version.V1_2, rewire(0, type=Op.RELU)),
    Broken("MODEL.P3R", "rank 5", ADD, Version.V1_0, edit(0, dimensions=(1, 1, 1, 1, 2))),
    Broken(
        "MODEL.P3O",
        "not optional",
        SQUEEZE,
        Version.V1_1,
        lambda m: main(edit(0, lifetime=Life.NO_VALUE)(m), input_indexes=()),
    ),
    Broken("MODEL.P4", "input written", EXTENDED, Version.V1_2, rewire(0, outputs=(1, 0))),
    Broken("MODEL.G1", "listed twice", ADD, Version.V1_0, lambda m: main(m, input_indexes=(0, 0))),
    Broken("MODEL.G1", "not listed", ADD, Version.V1_0, edit(1, lifetime=INPUT, location=DataLocation())),
    Broken("MODEL.G1", "constant listed", ADD, Version.V1_0, lambda m: main(m, input_indexes=(0, 1))),
    Broken("MODEL.G1", "temporary listed", ADD, Version.V1_0, lambda m: main(m, output_indexes=(3, 4))),
    Broken("MODEL.G1", "does not exist", ADD, Version.V1_0, lambda m: main(m, output_indexes=(4, 99))),
    Broken("MODEL.G1", "huge", ADD, Version.V1_0, lambda m: main(m, input_indexes=(0, 10**12))),
    Broken("MODEL.G3", "wrong order", ADD, Version.V1_0, lambda m: main(m, operations=m.main.operations[::-1])),
    Broken("MODEL.G3", "cycle", ADD, Version.V1_0, rewire(0, inputs=(4, 1, 2))),
    Broken(
        "MODEL.G4",
        "written twice",
        ADD,
        Version.V1_0,
        lambda m: main(
            m,
            operations=(*m.main.operations, Operation(Op.RELU, (3,), (4,))),
            operands=edit(3, number_of_consumers=2)(m).main.operands,
        ),
    ),
    Broken("MODEL.G5", "one too many", ADD, Version.V1_0, edit(0, number_of_consumers=2)),
    Broken("MODEL.G5", "none counted", ADD, Version.V1_3, edit(3, number_of_consumers=0)),
    Broken(
        "MODEL.G6",
        "output never written",
        ADD,
        Version.V1_0,
        lambda m: edit(3, number_of_consumers=0)(main(m, operations=m.main.operations[:1])),
    ),
    Broken(
        "MODEL.G7", "no input", ADD, Version.V1_0, lambda m: main(edit(0, lifetime=Life.NO_VALUE)(m), input_indexes=())
    ),
    Broken("MODEL.X2", "prefix twice", EXTENDED, Version.V1_2, mapped(("com.vendor.one", 1), ("com.vendor.two", 1))),
    Broken("MODEL.X2", "name twice", EXTENDED, Version.V1_2, mapped(("com.vendor.one", 1), ("com.vendor.one", 2))),
    Broken(
        "MODEL.X2", "16 bits in AIDL", EXTENDED, Version.FL5, mapped(("com.vendor.one", 1), ("com.vendor.two", 1 << 15))
    ),
    Broken("MODEL.X2", "prefix 0", EXTENDED, Version.V1_2, mapped(("com.vendor.one", 1), ("com.vendor.two", 0))),
    Broken("MODEL.X5", "not mapped", EXTENDED, Version.V1_2, mapped(("com.vendor.one", 2))),
]
"""One edit a line."""

TOLERATED = {
    # An edit of one field breaks these rules, too.
    "MODEL.M1 nothing at all": {"MODEL.G7"},
    "MODEL.M1 no operations": {"MODEL.G7"},
    "MODEL.P3 no output": {"MODEL.G7"},
    "MODEL.O12 type without lifetime": {"MODEL.X5"},
    "MODEL.P3O not optional": {"MODEL.G7"},
    "MODEL.G7 no input": {"MODEL.P3O"},
    "MODEL.O12 unknown": {"MODEL.G7"},
}


CONTROL_FLOW = {f"MODEL.{rule}" for rule in ("M4", "M5", "O11", "P5", "P6", "P7", "P8")}
"""Rules of subgraphs, tested apart."""


def found(model: Model, version: Version, *, text_rules: bool = True) -> set[str]:
    return {violation.clause for violation in validate_model(model, version, text_rules=text_rules)}


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case.rule} {case.what}")
def test_an_edit_breaks_one_rule(case: Broken) -> None:
    assert found(case.sound, case.version) == set()
    tolerated = TOLERATED.get(f"{case.rule} {case.what}", set())
    assert found(case.apply(case.sound), case.version) - tolerated == {case.rule}


def test_every_rule_has_an_edit() -> None:
    model_rules = {rule.id for rule in structural_rules() if rule.id.startswith("MODEL.")}
    assert {case.rule for case in BROKEN} == model_rules - CONTROL_FLOW


def test_rules_of_the_text_count_on_request_only() -> None:
    texts = {rule.id for rule in structural_rules() if rule.latest == "text"}
    for case in BROKEN:
        if case.rule in texts:
            assert case.rule not in found(case.apply(case.sound), case.version, text_rules=False)


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case.rule} {case.what}")
def test_no_rule_is_reported_for_a_version_it_does_not_bind(case: Broken) -> None:
    bounds = {rule.id: rule for rule in structural_rules()}
    for version in Version:
        for clause in found(case.apply(case.sound), version):
            assert bounds[clause].since <= version <= bounds[clause].until


SOUND = [
    ("unknown rank since 1.2", edit(0, dimensions=())(ADD), Version.V1_2),
    ("unknown size", edit(0, dimensions=(0,))(ADD), Version.V1_0),
    ("consumers in AIDL", edit(0, number_of_consumers=9)(ADD), Version.FL5),
    ("padding in HIDL", locate(1, padding=4)(ADD), Version.V1_3),
    ("scale of an integer tensor", edit(1, scale=0.5)(SQUEEZE), Version.V1_1),
    ("extra parameters that say nothing", edit(0, extra_params=OperandExtraParams())(ADD), Version.V1_2),
    ("blob of an extension", edit(0, extra_params=BLOB)(EXTENDED), Version.V1_2),
    (
        "OEM operation",
        Model(
            graph(
                [tensor(T.TENSOR_OEM_BYTE, lifetime=INPUT, scale=-3.0, zero_point=9), tensor(lifetime=OUTPUT)],
                [Operation(Op.OEM_OPERATION, (0,), (1,))],
            )
        ),
        Version.V1_0,
    ),
    ("unused operand", UNUSED, Version.V1_0),
]


@pytest.mark.parametrize(("what", "model", "version"), SOUND, ids=[what for what, _, _ in SOUND])
def test_what_is_legal_is_not_refused(what: str, model: Model, version: Version) -> None:
    assert validate_model(model, version) == []


def test_a_violation_says_what_where_and_what_was_expected() -> None:
    (violation,) = validate_model(edit(0, scale=0.0)(QUANT), Version.V1_0)
    assert str(violation) == "MODEL.O4: operand 0 (TENSOR_QUANT8_ASYMM): scale 0.0 must be greater than 0"
    assert (violation.subgraph, violation.operation, violation.operand) == (0, None, 0)


def test_a_missing_version_is_named() -> None:
    layout = constant(T.BOOL, [], 0, 1)
    operands = [
        tensor(dimensions=[1, 2, 2, 1], lifetime=INPUT),
        *[constant(T.INT32, [], 0, 4)] * 6,
        layout,
        tensor(dimensions=[1, 2, 2, 1], lifetime=OUTPUT),
    ]
    model = Model(graph(operands, [Operation(Op.MAX_POOL_2D, tuple(range(8)), (8,))]), operand_values=bytes(4))
    messages = [violation.message for violation in validate_model(model, Version.V1_0)]
    assert messages[-1] == "operation 0 (MAX_POOL_2D): input nchw_layout needs HAL 1.2, not 1.0"
    assert validate_model(model, Version.V1_2) == []
