"""The variations of AOSP's specification language: what they do to models and values, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from specifications import BARE, RELU, expand, fed, names, operands

from npu_conformance.corpus.importers.aosp import expansion

CONV = """
i = Input("i", "TENSOR_FLOAT32", "{1, 2, 3, 1}")
o = Output("o", "TENSOR_FLOAT32", "{1, 2, 3, 1}")
size, layout, act = Int32Vector("size", [1, 2, 3, 4]), BoolScalar("layout", False), Int32Scalar("act", 0)
t = Internal("t", "TENSOR_FLOAT32", "{1, 2, 3, 5}")
Model().Operation("X", i, size, layout).To(t).Operation("Y", t, act).To(o)
example = Example({i: [1, 2, 3, 4, 5, 6], o: [-1, 0.5, 3, 4, 7, -9]})
"""


def converted(kind: str, given: list[float], *, before: str = '"TENSOR_FLOAT32", [{n}]') -> list[Any]:
    """Values after a conversion to a type, written as in a file."""
    source = before.replace("{n}", str(len(given)))
    _, test = expand(f"""
i, o = Input("i", ({source})), Output("o", ("TENSOR_FLOAT32", [1]))
Model().Operation("X", i).To(o)
q = DataTypeConverter().Identify({{i: {kind}}})
Example({{i: {given}, o: [1]}}).AddVariations(q).DisableLifeTimeVariation()
""")
    return fed(test, "i")


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ('["TENSOR_QUANT8_ASYMM", 0.5, 128]', [0.25, 0.75, -0.25, -0.75, 1.0], [128, 130, 128, 126, 130]),
        ('["TENSOR_QUANT8_ASYMM", 1.0, 0]', [-1.0, 254.5, 255.5, 300.0], [0, 254, 255, 255]),
        ('("TENSOR_QUANT8_ASYMM_SIGNED", 1.0, 0)', [-200.0, -128.5, 126.5, 127.5], [-128, -128, 126, 127]),
        ('["TENSOR_QUANT16_ASYMM", 1.0, 10]', [-20.0, 2.5, 70000.0], [0, 12, 65535]),
        ('["TENSOR_QUANT16_SYMM", 0.5, 0]', [-1.25, 1.0], [-2, 2]),
        ('["TENSOR_INT32", 0.25, 0]', [-1.0, 0.125, 0.375], [-4, 0, 2]),
        ('["TENSOR_INT32"]', [0.5, 1.5, -2.5], [0, 2, -2]),
        ('["TENSOR_FLOAT16"]', [0.1, 1.0], [float(numpy.float16(0.1)), 1.0]),
        (
            '["TENSOR_QUANT8_SYMM_PER_CHANNEL", 0, 0, SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 2.0])]',
            [1.0, 300.0],
            [2, 127],
        ),
    ],
)
def test_conversions_divide_round_half_to_even_and_clamp(kind: str, given: list[float], expected: list[Any]) -> None:
    assert converted(kind, given) == expected


@pytest.mark.parametrize(
    ("before", "kind", "given", "expected"),
    [
        ('"TENSOR_QUANT8_ASYMM", [{n}], 0.5, 128', '["TENSOR_FLOAT32"]', [128, 0, 255], [0.0, -64.0, 63.5]),
        ('"TENSOR_QUANT8_ASYMM", [{n}], 0.5, 128', '["TENSOR_QUANT8_ASYMM_SIGNED", 0.5, 0]', [0, 255], [-128, 127]),
        ('"TENSOR_QUANT8_ASYMM", [{n}], 0.5, 128', '["TENSOR_QUANT8_ASYMM", 1.0, 0]', [129, 131, 135], [0, 2, 4]),
        (
            '"TENSOR_QUANT8_SYMM_PER_CHANNEL", [{n}], 0, 0, SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 4.0])',
            '["TENSOR_FLOAT32"]',
            [3, 5],
            [1.5, 20.0],
        ),
    ],
)
def test_conversions_go_through_real_numbers(before: str, kind: str, given: list[float], expected: list[Any]) -> None:
    assert converted(kind, given, before=before) == expected


def test_the_arithmetic_is_that_of_float32() -> None:
    # In float64 the quotient of the float32 nearest to 0.35 and 0.1 is 3.4999999; in float32 it is 3.5, which is even.
    assert converted('["TENSOR_QUANT8_ASYMM", 0.1, 0]', [0.35]) == [4]


def test_per_channel_values_have_the_scales_of_their_channel() -> None:
    _, test = expand("""
        w = Parameter("w", ("TENSOR_FLOAT32", [2, 2]), [1, 2, 3, 4])
        b, o = Parameter("b", ("TENSOR_FLOAT32", [2]), [1, 2]), Output("o", ("TENSOR_FLOAT32", [1]))
        Model().Operation("X", w, b).To(o)
        q = DataTypeConverter().Identify({
            w: ["TENSOR_QUANT8_SYMM_PER_CHANNEL", 0, 0, SymmPerChannelQuantParams(channelDim=1, scales=[1.0, 0.5])],
            b: ["TENSOR_INT32", 0.0, 0, SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 0.25], hide=True)]})
        Example({o: [1]}).AddVariations(q).DisableLifeTimeVariation()
    """)
    found = operands(test)
    assert test["name"] == "spec_channelQuant8"
    assert found["w"]["data"]["values"] == [1, 4, 3, 8]
    assert found["w"]["channel_quant"] == {"channel_dim": 1, "scales": [1.0, 0.5]}
    assert found["b"]["data"]["values"] == [2, 8]
    assert found["b"]["channel_quant"] is None


def test_an_operand_may_be_per_channel_from_the_start() -> None:
    (test,) = expand("""
        quant = SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 0.25])
        w = Parameter("w", ("TENSOR_QUANT8_SYMM_PER_CHANNEL", [2]), [1, 2], extraParams=quant)
        o = Output("o", ("TENSOR_FLOAT32", [1]))
        Model().Operation("DEQUANTIZE", w).To(o)
        Example({o: [1]}).DisableLifeTimeVariation()
    """)
    assert operands(test)["w"]["channel_quant"] == {"channel_dim": 0, "scales": [0.5, 0.25]}


@pytest.mark.parametrize("kind", ["('TENSOR_FLOAT32',)", "('TENSOR_FLOAT32', [1], 0, 0, None, 1)"])
def test_a_type_has_two_to_five_parts(kind: str) -> None:
    with pytest.raises(ValueError, match=r"expected \(TYPE, \[dimensions\], scale, zero point\)"):
        expand(f'Input("i", {kind})')


def test_operands_without_elements_only_change_their_type() -> None:
    _, test = expand("""
        i, e = Input("i", ("TENSOR_FLOAT32", [2])), Input("e", ("TENSOR_FLOAT32", [3]))
        t, z = Internal("t", ("TENSOR_FLOAT32", [4])), Output("z", ("TENSOR_FLOAT32", [0, 2]))
        o = Output("o", ("TENSOR_FLOAT32", [1]))
        Model().Operation("X", i, e).To(t).Operation("Y", t).To(o, z)
        Example({i: [1, 2], e: [], z: [], o: [1]}).AddVariations("float16")
    """)
    assert {one["type"] for one in operands(test).values()} == {"TENSOR_FLOAT16"}
    assert operands(test)["e"]["dimensions"] == [3]
    assert test["zero_sized_output"]


@pytest.mark.parametrize(
    ("word", "tensor", "scalar", "name"),
    [
        ('"float16"', "TENSOR_FLOAT16", "FLOAT16", "spec_float16"),
        ('"int32"', "TENSOR_INT32", "INT32", "spec_int32"),
        ('DataTypeConverter("quant8", scale=0.5, zeroPoint=3)', "TENSOR_QUANT8_ASYMM", "FLOAT32", "spec_quant8"),
        (
            'DataTypeConverter("quant8_signed", scale=0.5, zeroPoint=3, name="mine")',
            "TENSOR_QUANT8_ASYMM_SIGNED",
            "FLOAT32",
            "spec_mine",
        ),
    ],
)
def test_words_convert_every_float_tensor_and_the_scalars_of_numbers(
    word: str, tensor: str, scalar: str, name: str
) -> None:
    (_, test) = expand(RELU.replace("x)", "x, 0.5, [1])") + BARE.replace("Disable", f"AddVariations({word}).Disable"))
    kinds = {key: one["type"] for key, one in operands(test).items()}
    assert kinds == {"x": tensor, "y": tensor, "param": scalar, "param1": "TENSOR_INT32"}
    assert test["name"] == name


@pytest.mark.parametrize(
    ("targets", "name"),
    [
        ("x: ['TENSOR_INT32'], y: ['TENSOR_QUANT8_ASYMM', 1.0, 0]", "spec_quant8"),
        ("x: ['TENSOR_FLOAT16'], y: ['TENSOR_INT32']", "spec_int32"),
        ("x: ['TENSOR_FLOAT16']", "spec_float16"),
        ("x: ['TENSOR_FLOAT32']", "spec_float32"),
        ("x: ['TENSOR_QUANT16_SYMM', 1.0, 0]", "spec_float32"),
    ],
)
def test_conversions_are_named_after_the_first_type_in_a_fixed_order(targets: str, name: str) -> None:
    var = f"AddVariations(DataTypeConverter().Identify({{{targets}}}), includeDefault=False).Disable"
    assert names(RELU + BARE.replace("Disable", var)) == [name]


LOOP = """
def body():
    a, b = Input("a", "TENSOR_FLOAT32", "{1}"), Output("b", "TENSOR_FLOAT32", "{1}")
    return Model("body").Operation("ADD", a, [0.5], 0).To(b), a
cond, _ = body()
inside, a = body()
x, y = Input("x", "TENSOR_FLOAT32", "{1}"), Output("y", "TENSOR_FLOAT32", "{1}")
ref = SubgraphReference("ref", inside)
model = Model().Operation("WHILE", cond, ref, x).To(y)
example = Example({x: [1], y: [2]}, model=model).DisableLifeTimeVariation()
"""


def test_words_convert_referenced_models_too() -> None:
    _, relaxed, test = expand(LOOP + 'example.AddVariations("relaxed", "float16")')
    assert relaxed["is_relaxed"]
    kinds = [{one["type"] for one in operands(test, graph).values()} for graph in (0, 1, 2)]
    assert kinds == [{"SUBGRAPH", "TENSOR_FLOAT16"}, *[{"TENSOR_FLOAT16", "INT32"}] * 2]


def test_referenced_models_of_the_file_stay_as_they_are() -> None:
    *_, test = expand(LOOP + 'example.AddVariations("float16", "relaxed")')
    assert {one["type"] for one in operands(test, 1).values()} == {"TENSOR_FLOAT32", "INT32"}


def test_a_converter_may_be_the_target_of_a_referenced_model() -> None:
    text = 'inner = DataTypeConverter().Identify({a: ["TENSOR_FLOAT16"]})\n'
    text += 'example.AddVariations(DataTypeConverter(name="own").Identify({x: ["TENSOR_INT32"], ref: inner}))'
    _, test = expand(LOOP + text)
    assert test["name"] == "spec_own"
    assert operands(test)["x"]["type"] == "TENSOR_INT32"
    assert next(iter(operands(test, 1).values()))["type"] == "TENSOR_FLOAT32"
    assert next(iter(operands(test, 2).values()))["type"] == "TENSOR_FLOAT16"


def test_a_word_finds_its_operands_anew_in_each_model() -> None:
    shared = 'f16 = DataTypeConverter("float16")\n'
    second = RELU.replace('"x"', '"v"').replace('"y"', '"w"')
    text = f"{shared}{RELU}{BARE}.AddVariations(f16)\n{second}{BARE}.AddVariations(f16)"
    assert [[one["type"] for one in operands(test).values()] for test in expand(text)] == [
        ["TENSOR_FLOAT32"] * 2,
        ["TENSOR_FLOAT16"] * 2,
    ] * 2


# Layouts, axes, activations


@pytest.mark.parametrize(
    "group", ["AddNchw(i, o, t, size, layout)", 'AddVariations(("nchw", [i, o, t, size, layout]), defaultName="nhwc")']
)
def test_layouts_permute_values_dimensions_and_vectors_and_set_the_flag(group: str) -> None:
    before, test = expand(CONV + f"example.{group}")
    assert [before["name"], test["name"]] == ["spec_nhwc", "spec_nchw"]
    found = operands(test)
    assert (found["i"]["dimensions"], found["t"]["dimensions"]) == ([1, 1, 2, 3], [1, 5, 2, 3])
    assert fed(test, "i") == [1, 2, 3, 4, 5, 6]
    assert found["size"]["data"]["values"] == [1, 4, 2, 3]
    assert found["layout"]["data"]["b64"] == "AQ=="


def test_the_reverse_layout() -> None:
    _, test = expand(
        'i, o = Input("i", "TENSOR_FLOAT32", "{1, 2, 1, 2}"), Output("o", "TENSOR_FLOAT32", "{1}")\n'
        'flag = BoolScalar("flag", True)\nModel().Operation("X", i, flag).To(o)\n'
        'Example({i: [1, 2, 3, 4], o: [1]}).AddVariations(("nhwc", i, flag)).DisableLifeTimeVariation()'
    )
    assert operands(test)["i"]["dimensions"] == [1, 1, 2, 2]
    assert fed(test, "i") == [1, 3, 2, 4]
    assert operands(test)["flag"]["data"]["b64"] == "AA=="


def test_activations_set_the_argument_and_clamp_outputs() -> None:
    tests = expand(CONV + "example.AddAllActivations(o, act)")
    assert [test["name"] for test in tests] == ["spec_none", "spec_relu", "spec_relu1", "spec_relu6"]
    assert [operands(test)["act"]["data"]["values"] for test in tests] == [[0], [1], [2], [3]]
    assert [fed(test, "o") for test in tests] == [
        [-1, 0.5, 3, 4, 7, -9],
        [0, 0.5, 3, 4, 7, 0],
        [-1, 0.5, 1, 1, 1, -1],
        [0, 0.5, 3, 4, 6, 0],
    ]


def test_limits_of_activations_are_quantised_for_quantised_outputs() -> None:
    quant = 'q = DataTypeConverter().Identify({o: ["TENSOR_QUANT8_ASYMM", 0.5, 100]})\n'
    tests = expand(CONV + quant + "example.AddVariations(q, includeDefault=False).AddRelu(o, act, defaultName='all')")
    assert [test["name"] for test in tests] == ["spec_quant8_all", "spec_quant8_relu"]
    assert fed(tests[1], "o") == [100, 101, 106, 108, 114, 100]
    (test,) = expand(
        CONV
        + quant
        + 'example.AddVariations(q, includeDefault=False).AddVariations(("relu6", o), includeDefault=False)'
    )
    assert fed(test, "o")[4] == 112


AXES = """
i, o = Input("i", "TENSOR_FLOAT32", "{2, 3}"), Output("o", "TENSOR_FLOAT32", "{2, 3}")
axis = Int32Scalar("axis", -1)
Model().Operation("X", i, axis).To(o)
example = Example({i: [1, 2, 3, 4, 5, 6], o: [1, 2, 3, 4, 5, 6]}).DisableLifeTimeVariation()
"""


def axis_tests(group: str) -> list[tuple[str, list[int], int, list[Any]]]:
    """Name, dimensions, axis and values of each test of a group."""
    return [
        (
            test["name"].removeprefix("spec"),
            operands(test)["i"]["dimensions"],
            operands(test)["axis"]["data"]["values"][0],
            fed(test, "i"),
        )
        for test in expand(f"{AXES}example.{group}")
    ]


TURNED = [1, 4, 2, 5, 3, 6]
WHOLE = [1, 2, 3, 4, 5, 6]


def test_axes_move() -> None:
    assert axis_tests("AddAllAxis(i, o, axis)") == [
        ("_dim2_axis0_neg", [3, 2], -2, TURNED),
        ("_dim2_axis1_neg", [2, 3], -1, WHOLE),
        ("_dim2_axis0", [3, 2], 0, TURNED),
        ("_dim2_axis1", [2, 3], 1, WHOLE),
    ]
    assert [test[:2] for test in axis_tests("AddAllPositiveAxis(i, o, axis)")] == [
        ("_dim2_axis0", [3, 2]),
        ("_dim2_axis1", [2, 3]),
    ]
    assert [test[0] for test in axis_tests("AddAxis(0, i, o, axis, defaultName='same')")] == ["_same", "_dim2_axis0"]
    assert [test[0] for test in axis_tests("AddAxis([-1, 0], i, o, axis, includeDefault=False)")] == [
        "_dim2_axis1_neg",
        "_dim2_axis0",
    ]


def test_ranks_drop_the_other_axes_at_index_0() -> None:
    assert axis_tests("AddDims([1, 2], i, o, axis)") == [
        ("", [2, 3], -1, WHOLE),
        ("_dim1_axis0", [3], 0, [1, 2, 3]),
        ("_dim2_axis1", [2, 3], 1, WHOLE),
    ]
    assert [test[0] for test in axis_tests("AddDims(1, i, o, axis, includeDefault=False)")] == ["_dim1_axis0"]
    assert [test[0] for test in axis_tests("AddAllDims(i, o, axis)")] == ["_dim2_axis1", "_dim1_axis0"]


def test_ranks_and_axes_combine() -> None:
    assert axis_tests("AddAllDimsAndAxis(i, o, axis)") == [
        ("_dim2_axis0", [3, 2], 0, TURNED),
        ("_dim2_axis0_neg", [3, 2], -2, TURNED),
        ("_dim2_axis1", [2, 3], 1, WHOLE),
        ("_dim2_axis1_neg", [2, 3], -1, WHOLE),
        ("_dim1_axis0", [3], 0, [1, 2, 3]),
        ("_dim1_axis0_neg", [3], -1, [1, 2, 3]),
    ]
    assert [test[0] for test in axis_tests("AddAllDimsAndPositiveAxis(i, o, axis)")] == [
        "_dim2_axis0",
        "_dim2_axis1",
        "_dim1_axis0",
    ]


def test_the_axis_is_the_last_one_where_no_argument_names_it() -> None:
    assert [test[::3] for test in axis_tests("AddDims(1, i, o, includeDefault=False)")] == [("_dim1_axis0", [1, 2, 3])]
    (test,) = expand(AXES.replace('"axis", -1', '"axis", 0') + "example.AddDims(1, i, o, axis, includeDefault=False)")
    assert fed(test, "i") == [1, 4]


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ("AddAxis(2, i, o, axis)", "out of range"),
        ("AddAllAxis(axis)", "operands of one rank"),
        ("AddAllAxis(i, Input('z', 'TENSOR_FLOAT32', '{1}'))", "operands of one rank"),
    ],
)
def test_wrong_axes_are_errors(group: str, problem: str) -> None:
    with pytest.raises((ValueError, expansion.ExampleError), match=problem):
        axis_tests(group)
