"""Extensions: what they make known while they are registered, and no longer."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from example_catalogue import (
    CATALOGUE,
    CLAMP,
    EXTENSION,
    REQUANTIZE,
    RULES,
    TABLE,
    TYPE,
    copied,
    edited,
    known,
)
from msgspec.structs import replace

from npu_conformance.cli.main import main
from npu_conformance.corpus import extensions as corpus_extensions
from npu_conformance.corpus import vectors
from npu_conformance.corpus.extensions import checking, guarding
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.harness.run import index, suites
from npu_conformance.specs import requirements
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue, extensions, model_text, registered_extensions, rules
from npu_conformance.specs.neuralnetworks.extension_codes import is_registered
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, operand_type
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


@pytest.fixture
def registered() -> Iterator[None]:
    with corpus_extensions.registered([CATALOGUE]):
        yield


def test_an_extension_is_known_while_it_is_registered_and_no_longer() -> None:
    before = known()
    with corpus_extensions.registered([CATALOGUE]) as (extension,):
        assert extension.name == "com.example.npu"
        assert extension.operations == catalogue.names()[-2:] == rules.operations()[-2:] == (CLAMP, REQUANTIZE)
        assert is_registered(catalogue.operation_code(CLAMP))
        assert OPERAND_TYPES[operand_type(TYPE)].size == 2
        assert requirements.requirement(f"NNHAL-OPERATION-{CLAMP}-C1").statement.startswith(CLAMP)
        assert registered_extensions.find("com.example.npu") is extension
    assert known() == before
    with pytest.raises(LookupError):
        catalogue.operation_code(CLAMP)
    with pytest.raises(LookupError):
        operand_type(TYPE)


def test_registering_it_again_changes_nothing(registered: None) -> None:
    before = known()
    with corpus_extensions.registered([CATALOGUE, CATALOGUE]):
        assert known() == before
    assert extensions.register(CATALOGUE) is registered_extensions.all_registered()[0]
    assert known() == before


def test_a_second_folder_can_not_have_the_same_names(registered: None, folder: Path) -> None:
    before = known()
    with pytest.raises(DocumentError, match=r"EXAMPLE_ASYMM16 belongs to another registered extension"):
        extensions.register(folder)
    assert known() == before


def test_an_operation_may_take_types_of_another_extension(registered: None, folder: Path) -> None:
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
    with corpus_extensions.registered([folder]):
        (signature,) = catalogue.operation("OTHER").signatures
        assert catalogue.find_signature("OTHER", (operand_type(TYPE),)) is signature


def test_a_model_says_prefix_and_parameters(registered: None) -> None:
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
    assert with_registered_codes(given) != given
    assert with_registered_codes(given).main == with_registered_codes(model).main


def test_a_model_without_extensions_stays_as_it_is(registered: None) -> None:
    model = build_model(vectors.load("ADD", "float32_all_bits"), NEWEST).model
    assert with_registered_codes(model) is model
    assert model.extension_name_to_prefix == ()


def test_the_validator_knows_the_signatures(registered: None) -> None:
    model = build_model(vectors.load(CLAMP, "float32"), NEWEST).model
    assert validate_model(model, NEWEST) == []
    assert minimal_version(model) == Version.V1_2
    (operation,) = model.main.operations
    shorter = replace(model, main=replace(model.main, operations=(replace(operation, inputs=operation.inputs[:2]),)))
    (found,) = validate_model(shorter, NEWEST)
    assert found.clause == "MODEL.P3"
    assert found.message == "operation 0 (EXAMPLE_CLAMP): 2 inputs, expected 3"


def test_models_are_shown_with_the_names_of_the_catalogue(registered: None) -> None:
    text = model_text.text(build_model(vectors.load(REQUANTIZE, "saturating"), NEWEST).model)
    assert "%1 = EXAMPLE_REQUANTIZE(%0)" in text
    assert "TENSOR_EXAMPLE_ASYMM16[6] parameters 00000000000010400000000000000000" in text


def test_prefix_0_is_no_extension_s(registered: None) -> None:
    model = build_model(vectors.load("ADD", "float32_all_bits"), NEWEST).model
    mapped = replace(model, extension_name_to_prefix=(ExtensionNameAndPrefix("com.example.npu", 0),))
    assert with_registered_codes(mapped) is mapped
    assert {violation.clause for violation in validate_model(mapped, NEWEST)} == {"MODEL.X2"}


def test_a_number_of_the_catalogue_in_a_model_is_nothing(registered: None) -> None:
    model = build_model(vectors.load(CLAMP, "float32"), NEWEST).model
    first, *operands = model.main.operands
    (operation,) = model.main.operations
    invalid = replace(
        model.main,
        operations=(replace(operation, type=catalogue.operation_code(CLAMP)),),
        operands=(replace(first, type=int(operand_type(TYPE))), *operands),
    )
    for version in (Version.V1_2, NEWEST):
        found = {violation.clause for violation in validate_model(replace(model, main=invalid), version)}
        assert found >= {"MODEL.O1", "MODEL.P1"}, version


def test_modules_are_read_from_their_files_alone(folder: Path) -> None:
    (folder / "rules" / "json.py").write_text("raise RuntimeError")
    before = set(sys.modules)
    with pytest.raises(DocumentError, match="has no operation JSON"):
        extensions.register(folder)
    assert "json" in before
    assert not any(name == "example_clamp" for name in sys.modules)


def test_the_documents_as_printed_in_the_manual_are_sound(folder: Path) -> None:
    page = (CATALOGUE.parents[2] / "docs" / "extensions.md").read_text()
    document, table, vector_file, rejection = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    rules_file, oracle_file = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (folder / EXTENSION).write_text(document)
    (folder / TABLE).write_text(table)
    (folder / RULES).write_text(rules_file)
    (folder / "oracles" / "example_clamp.py").write_text(oracle_file)
    (folder / "vectors" / "example_requantize.json").write_text(vector_file)
    clamps = json.loads((folder / "vectors" / "example_clamp.json").read_text())
    clamps["vectors"].append({**json.loads(rejection), "name": "as_printed"})
    (folder / "vectors" / "example_clamp.json").write_text(json.dumps(clamps))
    with corpus_extensions.registered([folder]) as (extension,):
        found = list(checking.problems(extension))
    assert all("no vector is rejected because of EXAMPLE_REQUANTIZE.C" in problem for problem in found), found
    assert len(found) == 2


def test_the_kept_index_has_no_cases_of_a_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made in a run with one, it told them to every later run without one."""
    monkeypatch.setattr(suites, "all_areas", lambda: ("vts.extension", "vts.queries"))
    monkeypatch.setattr(index, "kept", lambda name, kind, make: make())
    with corpus_extensions.registered([CATALOGUE]):
        assert list(index.by_area.__wrapped__()) == ["vts.queries"]


def test_cases_of_an_extension_need_its_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "vts.extension.EXAMPLE_CLAMP.float32"]) == USAGE
    assert "needs the catalogue of its extension: --catalogue DIR" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["vts.extension.EXAMPLE_CLAMP"], ["*EXAMPLE_CLAMP*"], ["-k", "EXAMPLE_CLAMP"]])
def test_cases_of_an_extension_are_listed_with_its_catalogue(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", *words, "--catalogue", str(CATALOGUE)]) == OK
    listed = capsys.readouterr().out.splitlines()
    assert "vts.extension.EXAMPLE_CLAMP.float32" in listed
    assert main(["list", *words, "--long", "--catalogue", str(CATALOGUE)]) == OK
    long = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in long if line[0] != " "] == listed


def test_commands_show_and_trace_what_is_registered(capsys: pytest.CaptureFixture[str]) -> None:
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


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; os._exit(0)", "exited with status 0"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("while True: pass", "did not come to an end within 1 s"),
    ],
)
@pytest.mark.parametrize("command", [["catalogue", "check"], ["list", "--catalogue"]])
def test_code_that_ends_the_process_or_has_no_end_is_one_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: str,
    problem: str,
    command: list[str],
) -> None:
    """It ended the command itself with 0: a green gate."""
    monkeypatch.setattr(guarding, "SECONDS", 1.0 if "while" in code else 60.0)
    (folder / RULES).write_text(code)
    assert main([*command, str(folder)]) == USAGE
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert str(folder) in said.err
    assert problem in said.err


def test_a_folder_without_an_extension_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in (tmp_path, tmp_path / "nowhere", Path(__file__)):
        assert main(["catalogue", "check", str(place)]) == USAGE
        assert "expected a folder with the extension.json" in capsys.readouterr().err
