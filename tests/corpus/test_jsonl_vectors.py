"""External collections: what they hold arrives as it is, and a broken line is named."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from npu_conformance.cli.main import main
from npu_conformance.corpus import witnesses
from npu_conformance.corpus.importers import jsonl_vectors
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.versions import Version


def floats(*values: float) -> dict[str, Any]:
    content = numpy.array(values, "<f4").tobytes()
    return {"dtype": "float32", "shape": [len(values)], "count": len(values), "b64": base64.b64encode(content).decode()}


def integers(values: list[int], shape: list[int]) -> dict[str, Any]:
    return {"dtype": "int32", "shape": shape, "count": len(values), "values": values}


def operand(index: int, name: str, kind: str, lifetime: str, dimensions: list[int], **more: Any) -> dict[str, Any]:
    fields = {"scale": 0.0, "zero_point": 0, "channel_quant": None, "consumers": 1, "is_ignored": False}
    return {
        "index": index, "name": name, "type": kind, "dimensions": dimensions, "lifetime": lifetime,
        "omitted": False, **fields, **more,
    }  # fmt: skip


ADDITION: dict[str, Any] = {
    "name": "addition",
    "spec_file": "V1_0/addition.mod.py",
    "spec_dir": "V1_0",
    "hal_version": "V1_0",
    "test_kind": "general",
    "is_relaxed": False,
    "expect_failure": False,
    "expected_multinomial_distribution_tolerance": 0.0,
    "subgraphs": [
        {
            "name": None,
            "operands": [
                operand(0, "x", "TENSOR_FLOAT32", "SUBGRAPH_INPUT", [2]),
                operand(1, "x", "TENSOR_FLOAT32", "CONSTANT_REFERENCE", [2], data=floats(0.5, 0.25)),
                operand(2, "none", "INT32", "CONSTANT_COPY", [], data=integers([0], [])),
                operand(3, "sum", "TENSOR_FLOAT32", "SUBGRAPH_OUTPUT", [2]),
            ],
            "operations": [{"type": "ADD", "inputs": [0, 1, 2], "outputs": [3]}],
            "inputs": [0],
            "outputs": [3],
        }
    ],
    "examples": [{"inputs": {"0": floats(1.0, 2.0)}, "outputs": {"3": floats(1.5, 2.25)}}],
}


def branching() -> dict[str, Any]:
    """IF with one graph for both branches, and an omitted input beside it."""
    document = copy.deepcopy(ADDITION)
    branch = {
        "name": "branch",
        "operands": [
            operand(0, "in", "TENSOR_FLOAT32", "SUBGRAPH_INPUT", [2]),
            operand(1, "out", "TENSOR_FLOAT32", "SUBGRAPH_OUTPUT", [2]),
        ],
        "operations": [{"type": "RELU", "inputs": [0], "outputs": [1]}],
        "inputs": [0],
        "outputs": [1],
    }
    main = {
        "name": None,
        "operands": [
            operand(0, "condition", "TENSOR_BOOL8", "SUBGRAPH_INPUT", [1], omitted=True),
            operand(1, "then", "SUBGRAPH", "SUBGRAPH", [], referenced_index=0),
            operand(2, "else", "SUBGRAPH", "SUBGRAPH", [], referenced_index=0),
            operand(3, "in", "TENSOR_FLOAT32", "SUBGRAPH_INPUT", [2]),
            operand(4, "out", "TENSOR_FLOAT32", "SUBGRAPH_OUTPUT", [2], is_ignored=True),
        ],
        "operations": [{"type": "IF", "inputs": [0, 1, 2, 3], "outputs": [4]}],
        "inputs": [0, 3],
        "outputs": [4],
    }
    nothing = {"dtype": "bool8", "shape": [1], "count": 0, "values": [], "omitted": True}
    example = {"inputs": {"0": nothing, "3": floats(-1.0, 2.0)}, "outputs": {"4": floats(0.0, 2.0)}}
    document.update(name="branching", hal_version="UNKNOWN", spec_dir="V1_3_cts_only", is_relaxed=True)
    document.update(subgraphs=[main, branch], examples=[example])
    return document


def collection(folder: Path, *documents: dict[str, Any]) -> jsonl_vectors.Collection:
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    (folder / "V1_0.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (found,) = jsonl_vectors.collections(folder)
    return found


def test_a_vector_arrives_as_it_is(tmp_path: Path) -> None:
    source = collection(tmp_path, ADDITION)
    (header,) = source.headers()
    assert (header.name, header.operation, header.since) == ("addition", "ADD", Version.V1_0)
    vector = source.load("addition")
    assert list(vector.operands) == ["x", "x_1", "none", "sum"]
    assert vector.witnesses == ("aosp",)
    assert vector.examples[0].outputs["sum"].tolist() == [1.5, 2.25]
    assert witnesses.witness(vector) == []
    model = build_model(vector, Version.V1_0).model
    assert model.main.operands[1].location.length == 8


@pytest.mark.parametrize("names", [("a_3", "a", "x", "a"), ("a_3", "a", "a_4", "a"), ("a", "a_2", "a", "a_2")])
def test_the_name_that_a_second_operand_gets_may_be_taken(names: tuple[str, ...], tmp_path: Path) -> None:
    document = copy.deepcopy(ADDITION)
    for one, name in zip(document["subgraphs"][0]["operands"], names, strict=True):
        one["name"] = name
    vector = collection(tmp_path, document).load("addition")
    assert [operand.type.name for operand in vector.operands.values()] == [
        "TENSOR_FLOAT32", "TENSOR_FLOAT32", "INT32", "TENSOR_FLOAT32",
    ]  # fmt: skip


def test_an_argument_needs_the_version_that_brought_it(tmp_path: Path) -> None:
    softmax = json.loads(json.dumps(ADDITION))
    softmax["subgraphs"][0]["operands"][1] = operand(1, "beta", "FLOAT32", "CONSTANT_COPY", [], data=floats(1.0))
    softmax["subgraphs"][0]["operations"][0]["type"] = "SOFTMAX"
    (header,) = collection(tmp_path, softmax).headers()
    assert header.since == Version.V1_2


def test_subgraphs_omitted_inputs_and_ignored_outputs_arrive(tmp_path: Path) -> None:
    vector = collection(tmp_path, ADDITION, branching()).load("branching")
    assert vector.since == Version.V1_3
    assert (vector.operation, vector.ignored, vector.relaxed) == ("IF", ("out",), True)
    assert vector.operands["else"].subgraph == 0
    assert list(vector.examples[0].inputs) == ["in"]
    model = build_model(vector, Version.V1_3).model
    assert len(model.referenced) == 1
    assert model.main.operands[1].lifetime == OperandLifeTime.SUBGRAPH
    assert model.main.operands[1].type == OperandType.SUBGRAPH
    request = build_request(vector, vector.examples[0], Version.V1_3)
    assert list(request.inputs) == ["in"]


def test_examples_may_give_the_sizes_that_the_model_leaves_open(tmp_path: Path) -> None:
    document = copy.deepcopy(ADDITION)
    operands = document["subgraphs"][0]["operands"]
    operands[0]["dimensions"], operands[3]["dimensions"] = [0], []
    vector = collection(tmp_path, document).load("addition")
    assert (vector.examples[0].inputs["x"].shape, vector.examples[0].outputs["sum"].shape) == ((2,), (2,))


def test_a_rejected_vector_needs_no_expected_values(tmp_path: Path) -> None:
    document = copy.deepcopy({**ADDITION, "expect_failure": True, "test_kind": "validation"})
    document["examples"][0]["outputs"] = {}
    assert collection(tmp_path, document).load("addition").examples[0].outputs == {}


def test_the_operation_under_test_is_not_the_addition_in_front(tmp_path: Path) -> None:
    document = copy.deepcopy(ADDITION)
    main = document["subgraphs"][0]
    main["operands"] += [operand(4, "end", "TENSOR_FLOAT32", "SUBGRAPH_OUTPUT", [2])]
    main["operands"][3]["lifetime"] = "TEMPORARY_VARIABLE"
    main["operations"] += [{"type": "RELU", "inputs": [3], "outputs": [4]}]
    (header,) = collection(tmp_path, document).headers()
    assert (header.operation, header.operations) == ("RELU", ("ADD", "RELU"))


def test_expected_failures_become_rejections_but_not_endless_loops(tmp_path: Path) -> None:
    failing = {**ADDITION, "name": "failing", "expect_failure": True, "test_kind": "validation"}
    endless = {**ADDITION, "name": "endless", "expect_failure": True, "test_kind": "infinite_loop_timeout"}
    source = collection(tmp_path, failing, endless)
    rejected = source.load("failing").rejected
    assert rejected is not None
    assert rejected.phase == "execution"
    assert source.load("failing").examples[0].outputs == {}
    assert (source.load("endless").rejected, source.load("endless").kind) == (None, "infinite_loop_timeout")


def _set(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


MAIN = ("subgraphs", 0)
BROKEN: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "no name": (lambda document: document.pop("name"), r"\$: Object missing required field `name`"),
    "bad version": (_set("hal_version", value="V9_9"), r"\$\.hal_version: unknown version 'V9_9'"),
    "no version at all": (_set("hal_version", value="new"), r"\$\.hal_version: unknown version 'new'"),
    "no graphs": (_set("subgraphs", value=[]), r"\$\.subgraphs: expected a main graph"),
    "no operation": (_set(*MAIN, "operations", value=[]), r"operations: expected at least one operation"),
    "wrong index": (_set(*MAIN, "operands", 1, "index", value=5), r"operands\[1\]\.index: expected 1, found 5"),
    "no such operand": (_set(*MAIN, "operations", 0, "inputs", value=[0, 9]), r"inputs\[1\]: there is no operand 9"),
    "unknown type": (_set(*MAIN, "operands", 0, "type", value="TENSOR"), r"type: unknown operand type 'TENSOR'"),
    "unknown operation": (_set(*MAIN, "operations", 0, "type", value="PLUS"), r"unknown operation 'PLUS'"),
    "no data": (_set(*MAIN, "operands", 1, "data", value=None), r"operands\[1\]\.data: expected values or b64"),
    "bad base64": (_set(*MAIN, "operands", 1, "data", "b64", value="?"), r"operands\[1\]\.data: "),
    "too little data": (_set(*MAIN, "operands", 1, "data", "shape", value=[3]), r"data: cannot reshape"),
    "out of the type": (_set(*MAIN, "operands", 2, "data", "values", value=[2**40]), r"operands\[2\]\.data: "),
    "no such graph": (_set(*MAIN, "operands", 0, "referenced_index", value=0), r"no referenced graph 0"),
    "example of no number": (_set("examples", 0, "inputs", value={"²": floats(1.0)}), r"inputs.*: Expected `int`"),
    "example below": (_set("examples", 0, "inputs", value={"-1": floats(1.0)}), r"inputs\.-1: there is no such"),
    "example of nothing": (_set("examples", 0, "inputs", value={"7": floats(1.0)}), r"inputs\.7: there is no such"),
    "no examples": (_set("examples", value=[]), r"\$\.examples: expected at least one example"),
    "no input": (_set("examples", 0, "inputs", value={}), r"\$\.examples\[0\]\.inputs: no values for 'x'"),
    "no output": (_set("examples", 0, "outputs", value={}), r"\$\.examples\[0\]\.outputs: no values for 'sum'"),
    "omitted only here": (_set("examples", 0, "inputs", "0", "omitted", value=True), r"inputs: no values for 'x'"),
    "input of a constant": (_set("examples", 0, "inputs", "1", value=floats(1.0, 2.0)), r"values for 'x_1', which has"),
    "wrong shape": (
        _set("examples", 0, "inputs", "0", "shape", value=[1, 2]),
        r"inputs\.0: expected to fit \[2\], found",
    ),
    "output too small": (
        _set("examples", 0, "outputs", "3", value=floats(1.5)),
        r"outputs\.3: expected to fit \[2\], ",
    ),
    "constant too small": (
        _set(*MAIN, "operands", 1, "data", value=floats(0.5)),
        r"operands\[1\]\.data: expected to fit",
    ),
    "scalar of two": (
        _set(*MAIN, "operands", 2, "data", value=integers([0, 0], [2])),
        r"data: expected to fit \[\], found",
    ),
    "wrong kind": (_set("test_kind", value="multinomial"), r"\$\.test_kind: expected RANDOM_MULTINOMIAL alone"),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_line_is_named_with_its_number(rule: str, tmp_path: Path) -> None:
    change, expected = BROKEN[rule]
    document = copy.deepcopy({**ADDITION, "name": "broken"})
    change(document)
    source = collection(tmp_path, ADDITION, document)
    assert ADDITION["name"] in {header.name for header in source.headers()}
    problem = source.problems().get(2)
    if problem is None:  # what only the whole line shows is the case's to say
        with pytest.raises(DocumentError) as caught:
            source.load("broken")
        problem = caught.value
    assert re.search(expected, str(problem))
    assert str(problem).startswith(f"{tmp_path}/V1_0.jsonl.gz:2: ")
    assert "\n" not in str(problem)


def test_where_no_line_can_be_read_it_is_no_collection(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"V1_0\.jsonl\.gz:1: \$: Object missing required field"):
        collection(tmp_path, {}, {"name": "other"}).headers()


def test_a_broken_line_costs_that_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection(tmp_path, ADDITION, {**ADDITION, "name": "broken", "subgraphs": []}, {**ADDITION, "name": "third"})
    options = ("--plugin", "reference", "--vectors", str(tmp_path), "--report", str(tmp_path / "report"), "-q")
    assert main(["run", "vts.external", *options]) == 3
    out = capsys.readouterr().out
    assert re.search(r"^all +2 +1$", out, re.MULTILINE)
    where = f"{tmp_path}/V1_0.jsonl.gz:2: $.subgraphs: expected a main graph"
    assert f"suite-error: {where}" in out
    assert "vts.external.V1_0.line2.unreadable" in out
    assert main(["run", "vts.external.V1_0.third", *options]) == 0


def test_an_incomplete_line_is_no_failure_of_the_driver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = copy.deepcopy({**ADDITION, "name": "incomplete"})
    document["examples"][0]["inputs"] = {}
    collection(tmp_path, ADDITION, document)
    options = ("--plugin", "reference", "--vectors", str(tmp_path), "--report", str(tmp_path / "report"), "-q")
    assert main(["run", "vts.external", *options]) == 3
    assert f"suite-error: {tmp_path}/V1_0.jsonl.gz:2: $.examples[0].inputs: no values" in capsys.readouterr().out


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"there is no \.jsonl\.gz file"):
        jsonl_vectors.collections(tmp_path)
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(json.dumps(ADDITION).encode())[:-20])
    (cut,) = jsonl_vectors.collections(tmp_path)
    with pytest.raises(DocumentError, match="cannot be read"):
        cut.headers()


@pytest.mark.parametrize("name", ["nix", "nix.json", "nix.jsonl.gz", "nix.tflite", "nix.mod.py"])
def test_a_path_that_is_not_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--vectors", name, "--plugin", "reference", "--isolation", "inprocess"]) == 2
    assert capsys.readouterr().err == f"npu-conformance: {name}: No such file or directory\n"


def test_an_unknown_name_is_a_key_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="has no vector 'other'"):
        collection(tmp_path, ADDITION).load("other")


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl_vectors, "LARGEST", 1 << 20)
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(bytes(4 << 20)))
    with pytest.raises(DocumentError, match="it unpacks to more than 1 MiB: split it"):
        jsonl_vectors.collections(tmp_path)[0].headers()


@pytest.mark.parametrize("name", ["add.json", "add.jsonl.gz"])
def test_a_folder_of_vectors_with_a_pipe_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / name)
    assert main(["run", "--vectors", str(tmp_path), "--plugin", "reference", "--isolation", "inprocess"]) == 2
    expected = f"npu-conformance: {tmp_path}/{name}: expected a file, found a pipe, a socket or a device\n"
    assert capsys.readouterr().err == expected
