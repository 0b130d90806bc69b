"""Catalogues in which something is wrong: one line for each way, before anything runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_catalogue import (
    CATALOGUE,
    CLAMP,
    EXTENSION,
    ORACLE,
    RULES,
    TABLE,
    VECTORS,
    copied,
    edited,
    known,
)

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, USAGE, WRONG
from npu_conformance.specs.neuralnetworks import registered_extensions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


def _first(document: Any, field: str) -> Any:
    return document[field][0]


Edit = Callable[[Path], None]


def _json(file: str, edit: Callable[[Any], None]) -> Edit:
    return lambda folder: edited(folder / file, edit)


def _text(file: str, text: str) -> Edit:
    def write(folder: Path) -> None:
        (folder / file).write_text(text)

    return write


def _replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def _shapes(code: str) -> Edit:
    """Other shapes of the outputs than the rules have."""
    return lambda folder: _replaced(folder / RULES, "    shapes.same_as_input,\n", f"    {code},\n")


def _other_rules(folder: Path) -> None:
    shutil.copy(folder / "rules" / "example_requantize.py", folder / RULES)


BAD: dict[str, tuple[Edit, str]] = {
    "no_file": (lambda folder: (folder / EXTENSION).unlink(), "extension.json: No such file or directory"),
    "no_json": (_text(EXTENSION, "{"), "extension.json: not JSON: "),
    "unknown_field": (_json(EXTENSION, lambda it: it.update(hints=[])), "extension.json: $: Object contains unknown"),
    "bad_name": (
        _json(EXTENSION, lambda it: it.update(name="Npu")),
        "extension.json: $.name: expected words of small",
    ),
    "no_operations": (_json(EXTENSION, lambda it: it.update(operations=[])), "$.operations: Expected `array` of len"),
    "standard_operation": (
        _json(EXTENSION, lambda it: _first(it, "operations").update(name="ADD")),
        "extension.json: $.operations[0].name: ADD is a name of the standard",
    ),
    "standard_type": (
        _json(EXTENSION, lambda it: _first(it, "operand_types").update(name="TENSOR_FLOAT32")),
        "extension.json: $.operand_types[0].name: TENSOR_FLOAT32 is a name of the standard",
    ),
    "name_twice": (
        _json(EXTENSION, lambda it: it["operations"].append({"name": CLAMP, "id": 9})),
        "extension.json: $.operations[2].name: the name EXAMPLE_CLAMP occurs twice",
    ),
    "id_twice": (
        _json(EXTENSION, lambda it: it["operations"][1].update(id=0)),
        "extension.json: $.operations[1].id: the id 0 occurs twice",
    ),
    "id_too_large": (
        _json(EXTENSION, lambda it: it["operations"][1].update(id=65536)),
        "extension.json: $.operations[1].id: Expected `int` <= 65535",
    ),
    "size_of_another": (
        _json(EXTENSION, lambda it: _first(it, "operand_types").update(byte_size=4)),
        "extension.json: $.operand_types[0].byte_size: an element of int16 has 2 bytes, found 4",
    ),
    "unknown_dtype": (
        _json(EXTENSION, lambda it: _first(it, "operand_types").update(dtype="int12")),
        "extension.json: $.operand_types[0].dtype: Invalid enum value 'int12'",
    ),
    "no_table": (lambda folder: (folder / TABLE).unlink(), "example_clamp.json: No such file or directory"),
    "stray_file": (
        _text("rules/example_clip.py", ""),
        "example_clip.py: extension.json has no operation EXAMPLE_CLIP",
    ),
    "table_of_another": (
        _json(TABLE, lambda it: it.update(name="CLIP")),
        "example_clamp.json: $.name: expected EXAMPLE_CLAMP, found CLIP",
    ),
    "other_code": (
        _json(TABLE, lambda it: it.update(code=5)),
        "example_clamp.json: $.code: expected 0, the id in extension.json, found 5",
    ),
    "too_old": (
        _json(TABLE, lambda it: it.update(since="1.1")),
        "example_clamp.json: $.since: extensions came with HAL 1.2, found 1.1",
    ),
    "types_too_old": (
        _json(TABLE, lambda it: _first(it, "signatures").update(types={"1.0": [{"T": "TENSOR_FLOAT32", "S": "BOOL"}]})),
        "example_clamp.json: $.signatures[0].types: the operation came with HAL 1.2, found 1.0",
    ),
    "no_signatures": (
        _json(TABLE, lambda it: it.update(signatures=[])),
        "example_clamp.json: $.signatures: expected at least one signature",
    ),
    "no_types": (
        _json(TABLE, lambda it: _first(it, "signatures").update(types={})),
        "example_clamp.json: $.signatures[0].types: expected the type combinations",
    ),
    "unknown_type": (
        _json(TABLE, lambda it: it["signatures"][0]["types"]["1.2"][0].update(T="TENSOR_ODD")),
        "example_clamp.json: $.signatures[0].types.1.2: 'TENSOR_ODD' is no operand type",
    ),
    "open_variable": (
        _json(TABLE, lambda it: it["signatures"][0]["inputs"][1].update(type="U")),
        "example_clamp.json: $.signatures[0].inputs[1].type: 'U' is a type variable that a combination leaves open",
    ),
    "rules_with_an_error": (_text(RULES, "\n1 / 0\n"), "example_clamp.py: line 2: ZeroDivisionError: division by zero"),
    "rules_that_are_no_python": (_text(RULES, "def\n"), "example_clamp.py: line 1: SyntaxError: invalid syntax"),
    "rules_that_exit": (_text(RULES, "raise SystemExit(3)"), "example_clamp.py: line 1: SystemExit: 3"),
    "rules_without_rules": (_text(RULES, ""), "example_clamp.py: RULES: there is no such name in the file"),
    "rules_of_another_kind": (_text(RULES, "RULES = 3"), "example_clamp.py: RULES: expected rules(...), found a int"),
    "rules_of_another_operation": (
        _other_rules,
        "example_clamp.py: RULES: the clauses are of EXAMPLE_CLAMP, found EXAMPLE_REQUANTIZE.C1",
    ),
    "oracle_of_another_name": (
        _text(ORACLE, "def clamp(): ..."),
        "example_clamp.py: example_clamp: there is no such name in the file",
    ),
    "oracle_that_is_no_function": (
        _text(ORACLE, "example_clamp = 3"),
        "example_clamp.py: example_clamp: expected a function, found a int",
    ),
}


def _reported_in_one_line(folder: Path, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The report about a folder that cannot be used: one line, with these words."""
    assert main(["list", "vts.extension", "--catalogue", str(folder)]) == USAGE
    printed = capsys.readouterr().err
    assert line in printed
    assert len(printed.splitlines()) == 1
    return printed


@pytest.mark.parametrize("name", BAD)
def test_a_bad_folder_is_one_line_and_leaves_nothing_behind(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, line = BAD[name]
    edit(folder)
    before = known()
    assert _reported_in_one_line(folder, line, capsys).startswith(f"npu-conformance: {folder}")
    assert known() == before
    if name != "no_file":  # which is no catalogue at all
        assert main(["catalogue", "check", str(folder)]) == WRONG
        assert line in capsys.readouterr().out


WRONG_VECTORS: dict[str, tuple[Edit, str]] = {
    "unknown_type": (
        _json(VECTORS, lambda it: it["vectors"][0]["operands"]["input"].update(type="TENSOR_ODD")),
        "example_clamp.json: float32: $.operands.input.type: unknown operand type 'TENSOR_ODD'",
    ),
    "parameters_of_a_standard_type": (
        _json(VECTORS, lambda it: it["vectors"][0]["operands"]["input"].update(extension="00")),
        "float32: $.operands.input.extension: TENSOR_FLOAT32 is no type of an extension: it has none",
    ),
    "parameters_in_other_digits": (
        _json(VECTORS, lambda it: it["vectors"][0]["operands"]["input"].update(extension="0")),
        "example_clamp.json: $.vectors[0].operands.input.extension: Expected `str` matching regex",
    ),
    "unknown_operation": (
        _json(VECTORS, lambda it: it["vectors"][0].update(operations=[{"type": "CLIP", "inputs": [], "outputs": []}])),
        "float32: $.operations[0].type: unknown operation 'CLIP'",
    ),
}


@pytest.mark.parametrize("name", WRONG_VECTORS)
def test_bad_vectors_are_one_line_before_anything_runs(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, line = WRONG_VECTORS[name]
    edit(folder)
    _reported_in_one_line(folder, line, capsys)


UNTRUE: dict[str, tuple[Edit, str]] = {
    "wrong_value": (
        _json(VECTORS, lambda it: it["vectors"][0]["examples"][0]["outputs"]["output"].__setitem__(5, 4.0)),
        "EXAMPLE_CLAMP.float32: output: the vector says 4.0 at [1, 2], oracle computes 1.0",
    ),
    "breaks_a_clause": (
        _json(VECTORS, lambda it: it["vectors"][0]["operands"]["low"].update(value=[3.0])),
        "float32: as HAL 1.2 expected it to break nothing, it breaks EXAMPLE_CLAMP.C1",
    ),
    "found_at_the_execution": (
        _json(VECTORS, lambda it: it["vectors"][4]["rejected"].update(phase="model")),
        "low_above_high: rejected.phase: expected execution, found model: EXAMPLE_CLAMP.C1 may be found out at the",
    ),
    "rank_found_at_the_execution": (
        _json(VECTORS, lambda it: it["vectors"][4]["rejected"].update(phase="model", clause="MODEL.P3R")),
        "low_above_high: rejected.phase: expected execution, found model: MODEL.P3R may be found out at the execution",
    ),
    "clause_without_its_operation": (
        _json(VECTORS, lambda it: it["vectors"][4]["rejected"].update(clause="C1")),
        "expected it to break C1, it breaks EXAMPLE_CLAMP.C1; a vector names the clause with its operation",
    ),
    "breaks_no_clause": (
        _json(VECTORS, lambda it: it["vectors"][4]["operands"]["low"].update(value=[0.25])),
        "low_above_high: as HAL 1.2 expected it to break EXAMPLE_CLAMP.C1, it breaks nothing",
    ),
    "no_rejection": (
        _json(VECTORS, lambda it: it["vectors"].pop(4)),
        "example_clamp.json: no vector is rejected because of EXAMPLE_CLAMP.C1: Low is not greater than high",
    ),
    "since_too_late": (
        _json(VECTORS, lambda it: it["vectors"][0].update(since="1.3")),
        "float32: since: expected 1.2, the first version that has the model, found 1.3",
    ),
    "oracle_that_fails": (
        _text(ORACLE, "def example_clamp(inputs, outputs):\n    return 1 / 0"),
        "oracles/example_clamp.py: line 2: ZeroDivisionError: division by zero",
    ),
    "rules_that_fail": (
        lambda folder: _replaced(folder / RULES, 'view.real("low")', 'view.raal("low")'),
        "rules/example_clamp.py: line 11: AttributeError: 'OperationView' object has no attribute 'raal'",
    ),
    "shapes_that_fail": (
        lambda folder: _replaced(folder / RULES, '"C2", shapes.same_as_input', '"C2", lambda view: 1 / 0'),
        "rules/example_clamp.py: line 21: ZeroDivisionError: division by zero",
    ),
    "shapes_that_fail_when_executed": (
        _shapes("lambda view: 1 / 0"),
        "rules/example_clamp.py: line 19: ZeroDivisionError: division by zero",
    ),
    "shapes_that_are_wrong": (
        _shapes("lambda view: ((2, 4),)"),
        "float32: output_shapes of EXAMPLE_CLAMP: expected [2, 3], found [2, 4]",
    ),
    "too_many_shapes": (
        _shapes("lambda view: (None, None)"),
        "float32: output_shapes of EXAMPLE_CLAMP: expected [2, 3], found [], []",
    ),
    "a_shape_in_place_of_shapes": (
        _shapes("lambda view: (2, 3)"),
        "float32: output_shapes of EXAMPLE_CLAMP: expected a shape, or None, for each output: 'int' object",
    ),
    "no_vectors": (
        lambda folder: (folder / VECTORS).unlink(),
        "example_clamp.json: there is no such file: nothing tests EXAMPLE_CLAMP",
    ),
    "no_oracle": (
        lambda folder: (folder / ORACLE).unlink(),
        "float32: witnesses: names the oracle, but EXAMPLE_CLAMP has none",
    ),
}


@pytest.mark.parametrize("name", UNTRUE)
def test_a_catalogue_that_is_untrue_is_told_by_its_check(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, line = UNTRUE[name]
    edit(folder)
    assert main(["catalogue", "check", str(folder)]) == WRONG
    printed = capsys.readouterr()
    assert line in printed.out
    assert printed.err == ""
    assert registered_extensions.all_registered() == ()


def test_a_sound_catalogue_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalogue", "check", str(CATALOGUE)]) == OK
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("com.example.npu: nothing is wrong with 2 operations and 13 vectors, of which 6 have to be")


def test_every_problem_of_a_folder_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("name_twice", "size_of_another", "other_code"):
        BAD[name][0](folder)
    assert main(["catalogue", "check", str(folder)]) == WRONG
    lines = capsys.readouterr().out.splitlines()
    for name in ("name_twice", "size_of_another", "other_code"):
        assert any(BAD[name][1] in line for line in lines), name
