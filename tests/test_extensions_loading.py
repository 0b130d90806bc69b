"""Catalogue overlays: what they make known while in use, and one line for each way in which a folder can be wrong."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from npu_conformance.harness.main import main
from npu_conformance.harness.outcome_table import OK, USAGE, WRONG
from npu_conformance.specs import oracles, requirements, vectors
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue, extension_check, extensions, rules, show
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.neuralnetworks.extension_codes import is_own, own_form
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, operand_type
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version

CATALOGUE = Path(__file__).parent.parent / "examples" / "extension" / "catalogue"
CLAMP, REQUANTIZE, TYPE = "EXAMPLE_CLAMP", "EXAMPLE_REQUANTIZE", "TENSOR_EXAMPLE_ASYMM16"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example's catalogue, to be spoiled."""
    copied = tmp_path / "own"
    shutil.copytree(CATALOGUE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


@pytest.fixture
def in_use() -> Iterator[None]:
    with extensions.in_use([CATALOGUE]):
        yield


def edited(path: Path, edit: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def known() -> tuple[Any, ...]:
    tables = (catalogue.names(), rules.operations(), oracles.names(), vectors.own_operations())
    return (*tables, dict(OPERAND_TYPES), extensions.all_in_use())


def test_an_extension_is_known_while_it_is_in_use_and_no_longer() -> None:
    before = known()
    with extensions.in_use([CATALOGUE]) as (extension,):
        assert extension.name == "com.example.npu"
        assert extension.operations == catalogue.names()[-2:] == rules.operations()[-2:] == (CLAMP, REQUANTIZE)
        assert is_own(catalogue.operation_code(CLAMP))
        assert OPERAND_TYPES[operand_type(TYPE)].size == 2
        assert requirements.requirement(f"NNHAL-OPERATION-{CLAMP}-C1").statement.startswith(CLAMP)
        assert extensions.find("com.example.npu") is extension
    assert known() == before
    with pytest.raises(LookupError):
        catalogue.operation_code(CLAMP)
    with pytest.raises(LookupError):
        operand_type(TYPE)


def test_using_it_again_changes_nothing(in_use: None) -> None:
    before = known()
    with extensions.in_use([CATALOGUE, CATALOGUE]):
        assert known() == before
    assert extensions.use(CATALOGUE) is extensions.all_in_use()[0]
    assert known() == before


def test_a_second_folder_can_not_have_the_same_names(in_use: None, folder: Path) -> None:
    before = known()
    with pytest.raises(DocumentError, match=r"EXAMPLE_ASYMM16 belongs to another extension in use"):
        extensions.use(folder)
    assert known() == before


def test_an_operation_may_take_types_of_another_extension(in_use: None, folder: Path) -> None:
    def renamed(document: Any) -> None:
        document.update(name="com.example.other", operand_types=[])
        document["operations"] = [{"name": "OTHER", "id": 7}]

    edited(folder / "extension.json", renamed)
    for part in ("rules", "oracles", "vectors", "operations"):
        (folder / part / f"example_clamp.{'py' if part in ('rules', 'oracles') else 'json'}").unlink()
    for part in ("rules", "oracles", "vectors"):
        shutil.rmtree(folder / part)
    (folder / "operations" / "example_requantize.json").rename(folder / "operations" / "other.json")
    edited(folder / "operations" / "other.json", lambda table: table.update(name="OTHER", code=7))
    with extensions.in_use([folder]):
        (signature,) = catalogue.operation("OTHER").signatures
        assert catalogue.find_signature("OTHER", (operand_type(TYPE),)) is signature


def test_a_model_says_prefix_and_parameters(in_use: None) -> None:
    vector = vectors.load(REQUANTIZE, "saturating")
    model = build_model(vector, NEWEST).model
    (mapping,) = model.extension_name_to_prefix
    assert mapping.name == "com.example.npu"
    assert 0 < mapping.prefix < 1 << 15
    assert model.main.operations[0].type == mapping.prefix << 16 | 1
    operand = model.main.operands[0]
    assert operand.type == mapping.prefix << 16
    assert (operand.scale, operand.zero_point) == (0.0, 0)
    assert operand.extra_params is not None
    assert operand.extra_params.extension == bytes.fromhex("00000000000010400000000000000000")
    other = build_model(vectors.load(REQUANTIZE, "shifted_only"), NEWEST).model
    assert other.extension_name_to_prefix[0].prefix != mapping.prefix
    given = build_model(vector, NEWEST, first_prefix=5).model
    assert given.extension_name_to_prefix == (ExtensionNameAndPrefix("com.example.npu", 5),)
    assert own_form(given) != given
    assert own_form(given).main == own_form(model).main


def test_a_model_without_extensions_is_its_own_form(in_use: None) -> None:
    model = build_model(vectors.load("ADD", "float32_all_bits"), NEWEST).model
    assert own_form(model) is model
    assert model.extension_name_to_prefix == ()


def test_the_validator_knows_the_signatures(in_use: None) -> None:
    model = build_model(vectors.load(CLAMP, "float32"), NEWEST).model
    assert validate_model(model, NEWEST) == []
    assert minimal_version(model) == Version.V1_2
    (operation,) = model.main.operations
    shorter = replace(model, main=replace(model.main, operations=(replace(operation, inputs=operation.inputs[:2]),)))
    (found,) = validate_model(shorter, NEWEST)
    assert found.clause == "MODEL.P3"
    assert found.message == "operation 0 (EXAMPLE_CLAMP): 2 inputs, expected 3"


def test_models_are_shown_with_the_names_of_the_catalogue(in_use: None) -> None:
    text = show.text(build_model(vectors.load(REQUANTIZE, "saturating"), NEWEST).model)
    assert "%1 = EXAMPLE_REQUANTIZE(%0)" in text
    assert "TENSOR_EXAMPLE_ASYMM16[6] parameters 00000000000010400000000000000000" in text


def test_prefix_0_is_no_extension_s(in_use: None) -> None:
    model = build_model(vectors.load("ADD", "float32_all_bits"), NEWEST).model
    mapped = replace(model, extension_name_to_prefix=(ExtensionNameAndPrefix("com.example.npu", 0),))
    assert own_form(mapped) is mapped
    assert {violation.clause for violation in validate_model(mapped, NEWEST)} == {"MODEL.X2"}


def test_a_number_of_the_catalogue_in_a_model_is_nothing(in_use: None) -> None:
    model = build_model(vectors.load(CLAMP, "float32"), NEWEST).model
    first, *operands = model.main.operands
    (operation,) = model.main.operations
    spoiled = replace(
        model.main,
        operations=(replace(operation, type=catalogue.operation_code(CLAMP)),),
        operands=(replace(first, type=int(operand_type(TYPE))), *operands),
    )
    for version in (Version.V1_2, NEWEST):
        found = {violation.clause for violation in validate_model(replace(model, main=spoiled), version)}
        assert found >= {"MODEL.O1", "MODEL.P1"}, version


def _first(document: Any, field: str) -> Any:
    return document[field][0]


Edit = Callable[[Path], None]


def _json(file: str, edit: Callable[[Any], None]) -> Edit:
    return lambda folder: edited(folder / file, edit)


def _text(file: str, text: str) -> Edit:
    def write(folder: Path) -> None:
        (folder / file).write_text(text)

    return write


EXTENSION, TABLE = "extension.json", "operations/example_clamp.json"
RULES, ORACLE = "rules/example_clamp.py", "oracles/example_clamp.py"
BAD: dict[str, tuple[Edit, str]] = {
    "no_file": (lambda folder: (folder / EXTENSION).unlink(), "extension.json: No such file or directory"),
    "no_json": (_text(EXTENSION, "{"), "extension.json: not JSON: "),
    "unknown_field": (_json(EXTENSION, lambda it: it.update(hints=[])), "extension.json: $: Object contains unknown"),
    "bad_name": (_json(EXTENSION, lambda it: it.update(name="Npu")), "extension.json: $.name: Expected `str` matching"),
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
        lambda folder: shutil.copy(folder / "rules" / "example_requantize.py", folder / RULES) and None,
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


@pytest.mark.parametrize("name", BAD)
def test_a_bad_folder_is_one_line_and_leaves_nothing_behind(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, line = BAD[name]
    edit(folder)
    before = known()
    assert main(["list", "vts.extension", "--catalogue", str(folder)]) == USAGE
    told = capsys.readouterr()
    assert line in told.err
    assert len(told.err.splitlines()) == 1
    assert told.err.startswith(f"npu-conformance: {folder}")
    assert known() == before
    assert main(["catalogue", "check", str(folder)]) == WRONG
    assert line in capsys.readouterr().out


VECTORS = "vectors/example_clamp.json"
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
        "example_clamp.json: $.vectors[0].operands[...].extension: Expected `str` matching regex",
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
    assert main(["list", "vts.extension", "--catalogue", str(folder)]) == USAGE
    told = capsys.readouterr()
    assert line in told.err
    assert len(told.err.splitlines()) == 1


UNTRUE: dict[str, tuple[Edit, str]] = {
    "wrong_value": (
        _json(VECTORS, lambda it: it["vectors"][0]["examples"][0]["outputs"]["output"].__setitem__(5, 4.0)),
        "EXAMPLE_CLAMP.float32: output: oracle: expected 4.0 at [1, 2], found 1.0",
    ),
    "breaks_a_clause": (
        _json(VECTORS, lambda it: it["vectors"][0]["operands"]["low"].update(value=[3.0])),
        "float32: as HAL 1.2 expected it to break nothing, it breaks EXAMPLE_CLAMP.C1",
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
        "example_clamp.py: example_clamp: ZeroDivisionError: division by zero",
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
    told = capsys.readouterr()
    assert line in told.out
    assert told.err == ""
    assert extensions.all_in_use() == ()


def test_a_sound_catalogue_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_modules_are_read_from_their_files_alone(folder: Path) -> None:
    (folder / "rules" / "json.py").write_text("raise RuntimeError")
    before = set(sys.modules)
    with pytest.raises(DocumentError, match="has no operation JSON"):
        extensions.use(folder)
    assert "json" in before
    assert not any(name == "example_clamp" for name in sys.modules)


def test_the_documents_as_printed_in_the_manual_are_sound(folder: Path) -> None:
    page = (CATALOGUE.parents[2] / "docs" / "extensions.md").read_text()
    document, table, vector_file = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (rules_file,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (folder / EXTENSION).write_text(document)
    (folder / TABLE).write_text(table)
    (folder / RULES).write_text(rules_file)
    (folder / "vectors" / "example_requantize.json").write_text(vector_file)
    with extensions.in_use([folder]) as (extension,):
        found = list(extension_check.problems(extension))
    assert all("no vector is rejected because of EXAMPLE_REQUANTIZE.C" in problem for problem in found), found
    assert len(found) == 2


def test_cases_of_an_extension_need_its_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "vts.extension.EXAMPLE_CLAMP.float32"]) == USAGE
    assert "needs the catalogue of its extension: --catalogue DIR" in capsys.readouterr().err


def test_commands_show_and_trace_what_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--catalogue", str(CATALOGUE)]
    assert main(["vectors", "show", "EXAMPLE_REQUANTIZE.saturating", *words]) == OK
    stored = next(
        vector
        for vector in json.loads((CATALOGUE / "vectors" / "example_requantize.json").read_text())["vectors"]
        if vector["name"] == "saturating"
    )
    assert json.loads(capsys.readouterr().out) == stored
    assert main(["vectors", "witness", CLAMP, *words]) == OK
    assert "oracle: 4 agreed, 0 disagreed" in capsys.readouterr().out
    assert main(["requirements", f"NNHAL-OPERATION-{CLAMP}-*", *words]) == OK
    assert "3 with cases" in capsys.readouterr().out
