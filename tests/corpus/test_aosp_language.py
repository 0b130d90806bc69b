"""AOSP's specification language: what each construct makes of a model, its values and the names of its tests."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from specifications import BARE, FEED, RELU, expand, fed, names, operands, values

from npu_conformance.corpus.importers.aosp import expansion
from npu_conformance.corpus.importers.aosp.operands import Configuration


def test_a_small_file_gives_a_whole_document() -> None:
    (test,) = expand(RELU + BARE)
    assert (test["name"], test["hal_version"], test["test_kind"]) == ("spec", "V1_2", "general")
    assert test["zero_sized_output"] is False
    (graph,) = test["subgraphs"]
    assert (graph["inputs"], graph["outputs"]) == ([0], [1])
    assert graph["operations"] == [{"type": "RELU", "inputs": [0], "outputs": [1]}]
    assert operands(test)["x"] == {
        "index": 0, "name": "x", "type": "TENSOR_FLOAT32", "dimensions": [2], "scale": 0.0, "zero_point": 0,
        "channel_quant": None, "lifetime": "SUBGRAPH_INPUT", "consumers": 1, "is_ignored": False, "omitted": False,
    }  # fmt: skip
    assert test["examples"][0]["inputs"]["0"] == {
        "dtype": "float32",
        "shape": [2],
        "count": 2,
        "b64": "AACAvwAAAEA=",
        "bytes": 8,
    }


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('("TENSOR_FLOAT32", [1, 2])', ("TENSOR_FLOAT32", [1, 2], 0.0, 0)),
        ('["TENSOR_QUANT8_ASYMM", [2], 0.5]', ("TENSOR_QUANT8_ASYMM", [2], 0.5, 0)),
        ('("TENSOR_QUANT8_ASYMM", [2], 0.5, 128)', ("TENSOR_QUANT8_ASYMM", [2], 0.5, 128)),
        ('"TENSOR_FLOAT32", "{1, 2}"', ("TENSOR_FLOAT32", [1, 2], 0.0, 0)),
        ('"TENSOR_QUANT8_ASYMM", "{2}, 0.5f, 128"', ("TENSOR_QUANT8_ASYMM", [2], 0.5, 128)),
        ('"TENSOR_QUANT8_ASYMM", "{2}, 1.5f"', ("TENSOR_QUANT8_ASYMM", [2], 1.5, 0)),
        ('"TENSOR_FLOAT32", "{}"', ("TENSOR_FLOAT32", [], 0.0, 0)),
        ('"TENSOR_FLOAT32", ""', ("TENSOR_FLOAT32", [], 0.0, 0)),
    ],
)
def test_types_have_two_spellings(written: str, expected: tuple[Any, ...]) -> None:
    (test,) = expand(RELU.replace('"TENSOR_FLOAT32", "{2}"', written, 1) + BARE.replace("[-1.0, 2.0]", "[]"))
    found = operands(test)["x"]
    assert (found["type"], found["dimensions"], found["scale"], found["zero_point"]) == expected


def test_arguments_become_operands_by_their_exact_type() -> None:
    (test,) = expand("""
        i, o = Input("i", ("TENSOR_FLOAT32", [1])), Output("o", ("TENSOR_FLOAT32", [1]))
        Model().Operation("X", i, 3, 1.5, True, [1, 2], (1.0, 2.0), []).To(o)
        Example({i: [0], o: [0]}).DisableLifeTimeVariation()
    """)
    found = [
        (one["name"], one["type"], one["dimensions"], values(one["data"]))
        for one in operands(test).values()
        if "data" in one
    ]
    assert found == [
        ("param", "INT32", [], [3]),
        ("param1", "FLOAT32", [], [1.5]),
        ("param2", "BOOL", [], [1]),
        ("param3", "TENSOR_INT32", [2], [1, 2]),
        ("param4", "TENSOR_FLOAT32", [2], [1.0, 2.0]),
        ("param5", "TENSOR_INT32", [0], []),
    ]


@pytest.mark.parametrize("argument", ["[1, 2.0]", "None", '"x"', "[True]", "__import__('numpy').int32(1)"])
def test_other_arguments_are_errors(argument: str) -> None:
    with pytest.raises(TypeError, match="is no argument"):
        expand(f'Model().Operation("X", {argument})')


def test_named_parameters() -> None:
    (test,) = expand("""
        o = Output("o", "TENSOR_FLOAT32", "{1}")
        Model().Operation(
            "X", Int32Scalar("a", 1), Float16Scalar("b", 0.5), Float32Scalar("c", 2), BoolScalar("d", 1),
            Int32Vector("e", [1.0, 2]), Float32Vector("f", [1]),
            Parameter("g", "TENSOR_QUANT8_ASYMM", "{2}, 1.f, 3", [7, 8]),
            Parameter("h", ("TENSOR_BOOL8", [2]), [True, False]), Parameter("i", ("INT32", []), 4),
            Parameter("j", ("TENSOR_INT32", [4]), None), Operand("k", ("TENSOR_FLOAT32", [3]))).To(o)
        Example({o: [1.0]}).DisableLifeTimeVariation()
    """)
    found = operands(test)
    kinds = {name: (one["type"], one["dimensions"], one["lifetime"]) for name, one in found.items()}
    assert kinds["b"] == ("FLOAT16", [], "CONSTANT_COPY")
    assert kinds["j"] == ("TENSOR_INT32", [4], "NO_VALUE")
    assert found["j"]["omitted"]
    assert "data" not in found["j"]
    assert kinds["k"] == ("TENSOR_FLOAT32", [3], "TEMPORARY_VARIABLE")
    elements = {name: values(one["data"]) for name, one in found.items() if "data" in one}
    assert elements == {
        "a": [1], "b": [0.5], "c": [2.0], "d": [1], "e": [1, 2], "f": [1.0], "g": [7, 8], "h": [1, 0], "i": [4],
    }  # fmt: skip


def test_operands_are_compared_and_ordered_by_name() -> None:
    from npu_conformance.corpus.importers.aosp.operands import Operand

    kind = ("TENSOR_FLOAT32", [1])
    a, b = (Operand(name, kind, skipRenaming=True) for name in "ab")
    assert a == Operand("a", ("INT32", []), skipRenaming=True)
    assert (a < b, b < a, a < a, a == b, a == "a") == (True, False, False, False, False)
    assert sorted({b: 1, a: 2}) == [a, b]


def test_names_are_unique_without_a_separator() -> None:
    (test,) = expand(RELU.replace('"y"', '"x"') + BARE)
    assert list(operands(test)) == ["x", "x1"]


def test_shared_memory_counts_when_a_parameter_is_made() -> None:
    try:
        (test,) = expand("""
            a = Parameter("a", ("TENSOR_FLOAT32", [1]), [1.0])
            Configuration.use_shm_for_weights = True
            b, o = Parameter("b", ("TENSOR_FLOAT32", [1]), [1.0]), Output("o", ("TENSOR_FLOAT32", [1]))
            Model().Operation("ADD", a, b, 0).To(o)
            Example({o: [2.0]}).DisableLifeTimeVariation()
        """)
    finally:
        Configuration.use_shm_for_weights = False
    lifetimes = [one["lifetime"] for one in operands(test).values()]
    assert lifetimes == ["CONSTANT_COPY", "CONSTANT_REFERENCE", "CONSTANT_REFERENCE", "SUBGRAPH_OUTPUT"]


def test_ignored_outputs_are_zeros_in_every_type_and_need_no_values() -> None:
    tests = expand("""
        i, o = Input("i", ("TENSOR_FLOAT32", [1])), Output("o", ("TENSOR_FLOAT32", [1]))
        s = IgnoredOutput("s", ("TENSOR_FLOAT32", [2, 2]))
        assert s.value == [0] * 4
        Model().Operation("X", i).To([s, o])
        q = DataTypeConverter().Identify({s: ("TENSOR_QUANT8_ASYMM", 1.0, 9), o: ("TENSOR_QUANT8_ASYMM", 1.0, 9)})
        Example(({i: [1.0]}, {o: [2.0], s: [1, 2, 3, 4]})).AddVariations(q).DisableLifeTimeVariation()
        Example(({i: [1.0]}, {o: [2.0]}), name="without").DisableLifeTimeVariation()
    """)
    assert [fed(test, "s") for test in tests] == [[0] * 4] * 3
    assert fed(tests[1], "o") == [11]
    assert [operands(test)["s"]["is_ignored"] for test in tests] == [True] * 3


def test_empty_inputs_are_omitted() -> None:
    (test,) = expand(RELU + "Example({x: [], y: [0.0, 2.0]})")
    assert operands(test)["x"]["omitted"]
    assert test["examples"][0]["inputs"]["0"] == {
        "dtype": "float32", "shape": [2], "count": 0, "b64": "", "bytes": 0, "omitted": True,
    }  # fmt: skip


def test_values_are_stored_as_their_types_do() -> None:
    (test,) = expand("""
        i = Input("i", ("TENSOR_FLOAT16", [2]))
        n, b = Input("n", ("TENSOR_INT32", [2])), Input("b", ("TENSOR_BOOL8", [2]))
        o = Output("o", ("INT32", []))
        Model().Operation("X", i, n, b).To(o)
        Example({i: [0.1, 65504], n: [1.9, -1.9], b: [2, 0], o: 7}).DisableLifeTimeVariation()
    """)
    assert fed(test, "i") == [float(numpy.float16(numpy.float32(0.1))), 65504.0]
    assert fed(test, "n") == [1, -1]
    assert fed(test, "b") == [1, 0]
    assert fed(test, "o") == [7]


@pytest.mark.parametrize(
    ("given", "expected"),
    [("[0, 255]", [0, 255]), ("[-0.9, 255.9]", [0, 255]), ("[1, 256]", None), ("[-1, 1]", None), ("[0, 1e9]", None)],
)
def test_values_fit_their_type_once_their_fractions_are_gone(given: str, expected: list[int] | None) -> None:
    text = f"""
        o = Output("o", ("TENSOR_QUANT8_ASYMM", [2], 1.0, 0))
        Model().Operation("X", 1).To(o)
        Example({{o: {given}}})
    """
    if expected is None:
        with pytest.raises(expansion.ExampleError, match="o: a value does not fit uint8"):
            expand(text)
    else:
        assert fed(expand(text)[0], "o") == expected


# Models


def test_operands_are_indexed_by_first_mention_and_boundaries_follow_that_order() -> None:
    (test,) = expand("""
        a, b = Input("a", "TENSOR_FLOAT32", "{1}"), Input("b", "TENSOR_FLOAT32", "{1}")
        o, p = Output("o", "TENSOR_FLOAT32", "{1}"), Output("p", "TENSOR_FLOAT32", "{1}")
        Model().IdentifyInputs(b, a).IdentifyOutputs(p, o).Operation("X", a, b, b).To((o, p))
        Example({a: [1], b: [2], o: [3], p: [4]}).DisableLifeTimeVariation()
    """)
    assert list(operands(test)) == ["b", "a", "p", "o"]
    graph = test["subgraphs"][0]
    assert (graph["inputs"], graph["outputs"]) == ([0, 1], [2, 3])
    assert graph["operations"][0] == {"type": "X", "inputs": [1, 0, 0], "outputs": [3, 2]}
    assert operands(test)["b"]["consumers"] == 2


@pytest.mark.parametrize("call", ["IdentifyInputs(x)", "IdentifyOutputs(x, y)"])
def test_identification_must_be_complete(call: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        expand(RELU + f'model.AddOperand(Input("z", "TENSOR_FLOAT32", "{{1}}")).{call}')


def test_operations_come_after_those_they_depend_on() -> None:
    (test,) = expand("""
        i, o = Input("i", "TENSOR_FLOAT32", "{1}"), Output("o", "TENSOR_FLOAT32", "{1}")
        t, u = Internal("t", "TENSOR_FLOAT32", "{1}"), Internal("u", ("TENSOR_FLOAT32", [1]))
        Model().Operation("LAST", t, u).To(o).Operation("SECOND", t).To(u).Operation("FIRST", i).To(t)
        Example({i: [1], o: [3]})
    """)
    graph = test["subgraphs"][0]
    assert [operation["type"] for operation in graph["operations"]] == ["FIRST", "SECOND", "LAST"]
    assert list(operands(test)) == ["t", "u", "o", "i"]


def test_a_circle_is_an_error() -> None:
    with pytest.raises(expansion.ExampleError, match="in a circle") as caught:
        expand("""
            o, t = Output("o", "TENSOR_FLOAT32", "{1}"), Internal("t", "TENSOR_FLOAT32", "{1}")
            Model().Operation("A", o).To(t).Operation("B", t).To(o)

            Example({o: [3]})
        """)
    assert caught.value.line == 5


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", "V1_2"),
        ('model.IntroducedIn("V1_0")', "V1_0"),
        ("model.IntroducedIn(None)", "UNKNOWN"),
        ('model.IntroducedIn("V1_0").RelaxedExecution(True)', "UNKNOWN"),
        ('Example.SetVersion("V1_3", "other", "spec")', "V1_3"),
        ('Example.SetVersion("V1_3", "other")', "V1_2"),
        ('model.RelaxedExecution(True)\nExample.SetVersion("V1_3", "spec")', "UNKNOWN"),
    ],
)
def test_versions(more: str, expected: str) -> None:
    (test,) = expand(f"{RELU}{more}\n{BARE}")
    assert test["hal_version"] == expected
    assert test["is_relaxed"] == ("Relaxed" in more)


def test_the_directory_may_say_no_version() -> None:
    assert expand(RELU + BARE, version=None)[0]["hal_version"] == "UNKNOWN"


CONTROL = """
def branch(name):
    a = Input("a", "TENSOR_FLOAT32", "{1}")
    return Model(name).Operation(name or "RELU", a, 0.5).To(Output("r", "TENSOR_FLOAT32", "{1}"))
x, y = Input("x", "TENSOR_FLOAT32", "{1}"), Output("y", "TENSOR_FLOAT32", "{1}")
"""


def test_referenced_models_appear_once_in_the_order_of_the_first_visit() -> None:
    (test,) = expand(
        CONTROL
        + """
inner, shared = branch("INNER"), branch(None)
c = Input("c", "TENSOR_FLOAT32", "{1}")
outer = Model("outer").Operation("IF", c, inner, shared).To(Output("d", "TENSOR_FLOAT32", "{1}"))
Model().Operation("WHILE", SubgraphReference("body", outer), shared, inner, x).To(y)
Example({x: [1], y: [1]}).DisableLifeTimeVariation()
"""
    )
    assert [graph["name"] for graph in test["subgraphs"]] == [None, "outer", "INNER", "param"]
    places = [one.get("referenced_index") for one in operands(test).values() if one["type"] == "SUBGRAPH"]
    assert places == [0, 2, 1]
    assert operands(test)["body"]["lifetime"] == "SUBGRAPH"


# Examples


def test_several_feeds_and_examples_of_one_model_make_tests_of_numbered_names() -> None:
    text = f"{RELU}Example({{x: [1, 1], y: [1, 1]}}, ({{x: [2, 2]}}, {{y: [2, 2]}})).DisableLifeTimeVariation()\n{BARE}"
    tests = expand(text)
    assert [test["name"] for test in tests] == ["spec", "spec_2", "spec_3"]
    assert [fed(test, "x")[0] for test in tests] == [1.0, 2.0, -1.0]


def test_examples_that_differ_in_nothing_else_are_one() -> None:
    text = f"""{RELU}
other = Model().Operation("TANH", x).To(y)
Example({{x: [1, 1], y: [1, 1]}}, model=model).DisableLifeTimeVariation()
Example({{x: [2, 2], y: [1, 1]}}, model=other).DisableLifeTimeVariation()
Example({{x: [3, 3], y: [1, 1]}}, model=model)
Example({{x: [4, 4], y: [1, 1]}}, model=model, name="named").DisableLifeTimeVariation()
"""
    assert [(test["name"], fed(test, "x")[0]) for test in expand(text)] == [
        ("spec", 1.0),
        ("spec_2", 3.0),
        ("spec_3", 2.0),
        ("spec_named", 4.0),
    ]


def test_examples_with_variations_of_their_own_are_not_merged() -> None:
    text = f'{RELU}{BARE}.AddVariations("relaxed")\n{BARE}.AddVariations("relaxed")'
    assert names(text) == ["spec", "spec_relaxed", "spec_2", "spec_relaxed_2"]


def test_names_have_file_model_example_and_variations() -> None:
    text = RELU.replace("Model()", 'Model("mod")') + FEED.replace("})", '}, name="ex")')
    assert names(text, name="file") == ["file_mod_ex", "file_mod_ex_all_inputs_as_internal"]
    assert names(text.replace('"ex"', "0"), name="file")[0] == "file_mod_0"


def test_groups_combine_and_the_last_varies_fastest() -> None:
    text = f'{RELU}{BARE}.AddVariations("relaxed", includeDefault=False).AddVariations("float16", defaultName="f32")\n'
    text += f"{BARE}.AddRelaxed().AddVariations(RelaxedModeConverter(False))\n{BARE}.AddRelaxed(False, False, 'no')"
    assert names(text) == [
        "spec_relaxed_f32", "spec_relaxed_float16", "spec", "spec_float", "spec_relaxed", "spec_relaxed_float",
        "spec_float_2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ("", "general"),
        (".ExpectFailure()", "validation"),
        (".WithMultinomialDistributionTolerance(0.5)", "multinomial"),
    ],
)
def test_kinds_of_tests(more: str, kind: str) -> None:
    tests = expand(RELU + FEED + more)
    assert {test["test_kind"] for test in tests} == {kind}
    assert tests[0]["expect_failure"] == (kind == "validation")
    assert tests[0]["expected_multinomial_distribution_tolerance"] == (0.5 if kind == "multinomial" else 0.0)
    assert len(tests) == (1 if kind == "multinomial" else 2)


def test_a_loop_that_must_fail_is_one_without_end() -> None:
    loop = "Model().Operation('WHILE', branch('A'), branch('B'), x).To(y)\n"
    loop = f"model = {loop}Example({{x: [1], y: [1]}}, model=model).ExpectFailure().DisableLifeTimeVariation()"
    assert {test["test_kind"] for test in expand(CONTROL + loop)} == {"infinite_loop_timeout"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Example({})", "an example needs a model"),
        (RELU + "Example({x: [1.0, 1.0]})", "no value for output y"),
        (RELU + BARE + ".AddVariations('fast')", "'fast' means no variation"),
        (RELU + BARE + ".AddVariations('quant8')", "needs a scale and a zero point"),
        (RELU + BARE + ".AddVariations(DataTypeConverter('quant8', scale=1.0))", "needs a scale and a zero point"),
        (RELU + BARE + ".AddVariations(DataTypeConverter('quant8', zeroPoint=1))", "needs a scale and a zero point"),
        (
            RELU + BARE + ".AddVariations(DataTypeConverter().Identify({x: 'TENSOR_FLOAT16'}))",
            "expected a list or tuple",
        ),
        (RELU + BARE + ".AddVariations(DataTypeConverter().Identify({x: DataTypeConverter()}))", "only a subgraph"),
        (RELU + BARE + ".AddNchw(x)", "x has no layout"),
        (RELU + BARE + ".AddRelu(x)", "x: expected an INT32 argument or an output"),
        (RELU + BARE + ".AddNchw(Input('z', 'TENSOR_FLOAT32', '{1,1,1,1}'))", "the model has no operand z"),
        (RELU.replace("TENSOR_FLOAT32", "TENSOR_FLOAT64"), "unknown operand type 'TENSOR_FLOAT64'"),
        ("Model().To()", "follows an operation"),
        (
            CONTROL
            + "m = Model().Operation('IF', branch('A'), x).To(y)\nExample({x: [1], y: [1]}, model=m).AddNchw(x)",
            "DataLayoutConverter does not support models with subgraphs",
        ),
    ],
)
def test_misuse_is_an_error(text: str, problem: str) -> None:
    with pytest.raises((ValueError, expansion.ExampleError), match=problem):
        expand(text)
