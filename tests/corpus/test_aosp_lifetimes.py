"""Where the operands of AOSP's tests live: what the three lifetime variations make of a model, and when."""

from __future__ import annotations

import pytest
from specifications import BARE, FEED, RELU, Document, expand, fed, names, operands

FULLY = """
i = Input("i", "TENSOR_QUANT8_ASYMM", "{2}, 0.5f, 7")
w, n = Parameter("w", "TENSOR_QUANT8_ASYMM", "{2}, 0.25f, 9", [1, 2]), Parameter("n", "TENSOR_INT32", "{1}", [3])
o = Output("o", "TENSOR_QUANT8_ASYMM", "{2}, 0.5f, 7")
model = Model().Operation("X", i, w, n, [4], 0, Parameter("none", ("TENSOR_INT32", [1]), None)).To(o)
"""
FULLY_FED = "Example({i: [3, 4], o: [5, 6]})"


def roles(test: Document) -> dict[str, str]:
    return {name: one["lifetime"] for name, one in operands(test).items()}


def test_two_groups_come_of_themselves_for_one_operation() -> None:
    tests = expand(FULLY + FULLY_FED)
    assert [test["name"] for test in tests] == [
        "spec",
        "spec_all_inputs_as_internal",
        "spec_all_tensors_as_inputs",
        "spec_all_tensors_as_inputs_all_inputs_as_internal",
    ]
    assert [part["class"] for part in tests[3]["variations"]] == [
        "AllTensorsAsInputsConverter",
        "AllInputsAsInternalCoverter",
    ]
    inputs = [name for name, role in roles(tests[2]).items() if role == "SUBGRAPH_INPUT"]
    assert inputs == ["i", "w", "n"]
    assert fed(tests[2], "w") == [1, 2]
    inputs = [name for name, role in roles(tests[3]).items() if role == "SUBGRAPH_INPUT"]
    assert inputs == ["n", "i_new", "w_new"]


def test_inputs_as_internal_come_out_of_an_addition_of_the_zero_point() -> None:
    test = expand(FULLY + FULLY_FED)[1]
    graph, found = test["subgraphs"][0], operands(test)
    assert [operation["type"] for operation in graph["operations"]] == ["ADD", "X"]
    assert list(found)[-3:] == ["i_new", "placeholder", "param2"]
    assert graph["operations"][0] == {
        "type": "ADD",
        "inputs": [found[name]["index"] for name in ("i_new", "placeholder", "param2")],
        "outputs": [0],
    }
    assert found["i"]["lifetime"] == "TEMPORARY_VARIABLE"
    placeholder = found["placeholder"]
    assert (placeholder["dimensions"], placeholder["scale"], placeholder["zero_point"]) == ([1], 0.5, 7)
    assert placeholder["data"]["values"] == [7]
    assert found["param2"]["data"]["values"] == [0]
    assert fed(test, "i_new") == [3, 4]


@pytest.mark.parametrize(
    ("kind", "is_internal"),
    [
        ('("TENSOR_FLOAT32", [1])', True),
        ('("TENSOR_FLOAT16", [1, 1, 1, 1])', True),
        ('("TENSOR_QUANT8_ASYMM", [1], 1.0, 0)', True),
        ('("TENSOR_QUANT8_ASYMM_SIGNED", [1], 1.0, 0)', True),
        ('("TENSOR_FLOAT32", [1, 1, 1, 1, 1])', False),
        ('("TENSOR_INT32", [1])', False),
        ('("TENSOR_BOOL8", [1])', False),
        ('("FLOAT32", [])', False),
    ],
)
def test_only_what_addition_takes_becomes_internal(kind: str, is_internal: bool) -> None:
    text = f'i, o = Input("i", {kind}), Output("o", ("TENSOR_INT32", [1]))\nModel().Operation("X", i).To(o)\n'
    assert len(names(f"{text}Example({{i: [1], o: [1]}})")) == 1 + is_internal
    assert len(names(f"{text}Example({{i: [], o: [1]}})")) == 1
    assert len(names(f"{text}i.ShouldNeverBeInternal()\nExample({{i: [1], o: [1]}})")) == 1


def test_a_parameter_that_should_never_be_internal_stays_so_as_an_input() -> None:
    text = FULLY.replace("o = Output", "w.ShouldNeverBeInternal()\ni.ShouldNeverBeInternal()\no = Output")
    assert names(text + FULLY_FED) == ["spec", "spec_all_tensors_as_inputs"]


def test_vectors_written_as_lists_stay_constant() -> None:
    text = FULLY.replace('Parameter("w"', 'Input("w"').replace(", [1, 2])", ")", 1)
    text = text.replace('Parameter("n", "TENSOR_INT32", "{1}", [3])', 'Int32Vector("n", [3])')
    assert names(text + "Example({i: [3, 4], w: [1, 2], o: [5, 6]})") == ["spec", "spec_all_inputs_as_internal"]


@pytest.mark.parametrize(
    "text",
    [
        f"{RELU}{BARE}",
        f"{RELU}{FEED}.WithMultinomialDistributionTolerance(0.1)",
        f"{RELU}model.Operation('TANH', y).To(Internal('z', 'TENSOR_FLOAT32', '{{2}}'))\n{FEED}",
    ],
)
def test_the_groups_that_come_of_themselves_can_be_missing(text: str) -> None:
    assert names(text) == ["spec"]


def test_outputs_as_internal_go_through_an_addition_and_leave_no_room_for_the_others() -> None:
    tests = expand(FULLY + FULLY_FED + ".AddVariations(AllOutputsAsInternalCoverter())")
    assert [test["name"] for test in tests][4:] == ["spec_all_outputs_as_internal"]
    test = tests[4]
    assert [operation["type"] for operation in test["subgraphs"][0]["operations"]] == ["X", "ADD"]
    assert test["subgraphs"][0]["operations"][1]["inputs"] == [
        operands(test)[name]["index"] for name in ("o", "placeholder3", "param5")
    ]
    assert operands(test)["param5"]["data"]["values"] == [0]
    assert roles(test)["o"] == "TEMPORARY_VARIABLE"
    assert roles(test)["o_new"] == "SUBGRAPH_OUTPUT"
    assert fed(test, "o_new") == [5, 6]


def test_skipped_combinations_take_operand_names_but_no_test_names() -> None:
    text = FULLY + FULLY_FED + ".AddVariations(AllOutputsAsInternalCoverter())\n" + FULLY_FED
    tests = expand(text)
    assert [test["name"] for test in tests][5:7] == ["spec_2", "spec_all_inputs_as_internal_2"]
    # Used: 1 and 2 by inputs as internal with tensors as inputs, then 4 by outputs as internal, 3 of them skipped.
    placeholders = [name for test in tests for name in operands(test) if name.startswith("placeholder")]
    assert placeholders == [
        "placeholder",
        "placeholder1",
        "placeholder2",
        "placeholder3",
        "placeholder7",
        "placeholder8",
        "placeholder9",
    ]


def test_variations_leave_the_file_s_own_model_alone() -> None:
    tests = expand(FULLY + FULLY_FED + '.AddVariations("relaxed")\n' + FULLY_FED)
    assert tests[-4]["subgraphs"] == tests[0]["subgraphs"]
    assert not tests[-4]["is_relaxed"]
