"""The kit for other languages: JSON and C say the same, and the sample models meet every rule."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from example_catalogue import CATALOGUE, CLAMP, REQUANTIZE, TYPE
from patience import SECONDS
from places import ROOT

from npu_conformance.cli.kit import header, methods, models, names, tables
from npu_conformance.cli.main import main
from npu_conformance.corpus import vectors
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.harness.wire.binding import wire_name
from npu_conformance.specs.interfaces import Interface, describe
from npu_conformance.specs.naming import camel_case
from npu_conformance.specs.neuralnetworks import catalogue, enums
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.validate import structural_rules
from npu_conformance.specs.npu import types as npu_types
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

# Prints the tables of the header in the form of `as_the_program_prints`.
PROGRAM = """
#include <stdio.h>
#include "npu_conformance.h"
int main(void) {
    for (int o = 0; o < NNC_OPERATIONS; o++) {
        const struct nnc_operation *operation = &nnc_operations[o];
        printf("%s %d %d %d\\n", operation->name, operation->code, operation->since, operation->until);
        for (int s = 0; s < operation->signatures; s++) {
            const struct nnc_signature *signature = &nnc_signatures[operation->first_signature + s];
            printf(" %s %llx\\n", signature->variant, (unsigned long long)signature->input_counts);
            for (int c = 0; c < signature->output_counts; c++) {
                const struct nnc_output_counts *counts = &nnc_output_counts[signature->first_output_counts + c];
                printf("  outputs %llx %d\\n", (unsigned long long)counts->counts, counts->since);
            }
            for (int a = 0; a < signature->inputs + signature->outputs; a++) {
                const struct nnc_argument *argument = &nnc_arguments[signature->first_argument + a];
                printf("  %s %x %d %d %d %d\\n", argument->name, argument->ranks, argument->since, argument->at_least,
                       argument->is_optional, argument->is_list);
            }
            for (int t = 0; t < signature->types; t++) {
                const struct nnc_types *types = &nnc_types[signature->first_types + t];
                printf("  types %d", types->since);
                for (int a = 0; a < signature->inputs + signature->outputs; a++)
                    printf(" %d", nnc_codes[types->first_code + a]);
                printf("\\n");
            }
        }
    }
    for (int t = 0; t < NNC_OPERAND_TYPES; t++) {
        const struct nnc_operand_type *type = &nnc_operand_types[t];
        printf("%s %d %d %d %d %d %d %d %d %d\\n", type->name, type->code, type->since, type->until, type->bytes,
               type->scale, type->is_tensor, type->is_per_channel, type->lowest_zero_point, type->highest_zero_point);
    }
    printf("%d %d %d\\n", NNC_OPERATION_TYPE_TANH, NNC_ERROR_STATUS_INVALID_ARGUMENT, NNC_POLICY_BUDGET);
    return 0;
}
"""
SOME = vectors.operations()[::8]
"""Operations enough for samples of every kind: test_node_driver.py has the samples of all."""
AGES = {version.value: age for age, version in enumerate(Version)}
SCALES = ["zero", "not_negative", "positive", "unchecked"]


def as_the_program_prints() -> list[str]:
    lines = []
    for name, operation in tables.operations().items():
        lines.append(f"{name} {operation['code']} {age(operation['since'])} {age(operation['until'])}")
        for signature in operation["signatures"]:
            lines += lines_of(signature)
    for name, kind in tables.operand_types().items():
        low, high = kind["zeroPoint"] or (0, 0)
        flags = f"{int(kind['tensor'])} {int(kind['perChannel'])}"
        versions = f"{age(kind['since'])} {age(kind['until'])}"
        lines.append(
            f"{name} {kind['code']} {versions} {kind['bytes']} {SCALES.index(kind['scale'])} {flags} {low} {high}"
        )
    return [*lines, "28 4 2"]


def lines_of(signature: dict[str, Any]) -> list[str]:
    lines = [f" {signature['variant']} {bits(signature['inputCounts'])}"]
    for entry in signature["outputCounts"] or ():
        lines += [f"  outputs {bits(entry['counts'])} {age(entry['since'])}"]
    for argument in (*signature["inputs"], *signature["outputs"]):
        flags = f"{int(argument.get('optional', False))} {int('atLeast' in argument)}"
        since = age(argument.get("since", OLDEST.value))
        lines.append(f"  {argument['name']} {bits(argument.get('ranks'))} {since} {argument.get('atLeast', 0)} {flags}")
    for types in signature["types"]:
        codes = " ".join(map(str, types["inputs"] + types["outputs"]))
        lines.append(f"  types {age(types['since'])} {codes}")
    return lines


def age(version: str | None) -> int:
    return AGES[version] if version else len(AGES) - 1


def bits(counts: list[int] | None) -> str:
    return f"{sum(1 << count for count in counts or ()):x}"


@pytest.mark.parametrize(
    ("compiler", "standard"), [("cc", "-std=c99"), ("c++", "-std=c++11")], ids=["a C compiler", "a C++ compiler"]
)
def test_the_header_compiles_and_says_what_the_tables_say(tmp_path: Path, compiler: str, standard: str) -> None:
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"no {compiler} on this machine")
    (tmp_path / "npu_conformance.h").write_text(header.text())
    source = tmp_path / ("program.c" if compiler == "cc" else "program.cc")
    source.write_text(PROGRAM)
    flags = [standard, "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([found, *flags, "-o", str(tmp_path / "program"), str(source)], check=True, timeout=SECONDS)
    printed = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert printed.stdout.splitlines() == as_the_program_prints()


def test_the_tables_have_every_number() -> None:
    found = tables.enumerations()
    assert found["Version"] == [version.value for version in Version]
    assert found["OperandType"] == {member.name: member.value for member in OperandType}
    assert {"ErrorStatus", "DeviceType", "Priority", "StartReason", "LoadStatus", "MemoryPressure"} <= found.keys()
    assert {entry["code"] for entry in tables.operations().values()} == set(enums.OperationType)
    assert {entry["code"] for entry in tables.operand_types().values()} == set(OperandType)
    assert tables.rules().keys() == {rule.id for rule in structural_rules()}


def test_a_signature_has_numbers_in_place_of_its_variables() -> None:
    table = tables.operations()["LSTM"]
    assert table["code"] == OperationType.LSTM
    (signature,) = table["signatures"]
    assert signature["inputCounts"] == [23, 27]
    assert signature["types"][1]["since"] == "1.2"
    assert signature["types"][1]["inputs"] == [*[8] * 20, 1, 10, 10, *[8] * 4]
    assert signature["inputs"][1] == {"name": "input_to_input", "ranks": [2], "optional": True}


def test_every_signature_has_a_type_for_each_argument() -> None:
    for name in catalogue.names():
        for signature in tables.operations()[name]["signatures"]:
            for types in signature["types"]:
                assert len(types["inputs"]) == len(signature["inputs"]), name
                assert len(types["outputs"]) == len(signature["outputs"]), name


@pytest.mark.parametrize("version", [Version.V1_0, Version.FL5], ids=str)
def test_the_sample_models_break_every_rule_that_binds(version: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "operations", lambda: SOME)
    samples = list(models.lines(version))
    assert len({sample["name"] for sample in samples}) == len(samples)
    assert {sample["verdict"] for sample in samples} == {"valid", "invalid", "either"}
    assert all((sample["verdict"] == "valid") == (not sample["clauses"]) for sample in samples)
    broken = {clause for sample in samples if sample["verdict"] == "invalid" for clause in sample["clauses"]}
    binding = {
        rule.id
        for rule in structural_rules()
        if rule.id.startswith("MODEL.") and rule.latest == "validation" and rule.since <= version <= rule.until
    }
    # HIDL's dimensions are unsigned: no message can break the rule there.
    assert binding - broken == (set() if version.is_aidl else {"MODEL.O15"})


def test_the_command_writes_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kit", str(tmp_path / "made"), "--hal", "1.0"]) == OK
    names = {path.name for path in (tmp_path / "made").iterdir()}
    assert names == {Path(line).name for line in capsys.readouterr().out.split()}
    first = json.loads((tmp_path / "made" / "models.jsonl").read_text().splitlines()[0])
    assert first.keys() == {"name", "version", "verdict", "clauses", "model"}
    assert json.loads((tmp_path / "made" / "operations.json").read_text()) == tables.operations()


def test_an_extension_has_a_table_of_its_own_and_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "operations", lambda: ("RELU",))
    assert main(["kit", str(tmp_path), "--catalogue", str(CATALOGUE)]) == OK
    assert CLAMP not in json.loads((tmp_path / "operations.json").read_text())
    found = json.loads((tmp_path / "extensions.json").read_text())["com.example.npu"]
    assert found["operandTypes"] == {TYPE: {"id": 0, "since": "1.2", "tensor": True, "bytes": 2, "element": "int16"}}
    clamp, requantize = found["operations"][CLAMP], found["operations"][REQUANTIZE]
    assert (clamp["id"], requantize["id"]) == (0, 1)
    assert clamp["signatures"][0]["types"][0] == {"since": "1.2", "inputs": [3, 0, 0], "outputs": [3]}
    assert requantize["signatures"][0]["types"] == [{"since": "1.2", "inputs": [TYPE], "outputs": [TYPE]}]
    assert clamp["clauses"][f"{CLAMP}.C1"]["phase"] == "execution"
    samples = [json.loads(line) for line in (tmp_path / "models.jsonl").read_text().splitlines()]
    own = {sample["name"]: sample for sample in samples if sample["name"].startswith("EXAMPLE_")}
    assert own[f"{CLAMP}.float32"]["verdict"] == "valid"
    assert own[f"{CLAMP}.float32"]["model"]["extensionNameToPrefix"][0]["name"] == "com.example.npu"
    late = own[f"{CLAMP}.low_above_high"]
    assert (late["verdict"], late["clauses"]) == ("either", [f"{CLAMP}.C1"])


def test_every_method_of_the_wire_is_in_the_kit() -> None:
    told = methods.methods()
    for interface in declared():
        for method in describe(interface).values():
            entry = told[f"{wire_name(interface)}.{method.wire_name}"]
            assert list(entry["params"]) == [camel_case(name) for name, _ in method.parameters]
            assert (entry["since"], entry["oneway"]) == (method.mark.since.value, method.mark.oneway)
            assert entry["until"] == (None if method.mark.until is NEWEST else method.mark.until.value)
            assert set(words(entry["result"], *entry["params"].values())) <= known(), method


def declared() -> set[type]:
    """The interfaces of specs/, the runtime's as one; what implements an interface is none."""
    below = {kind for kind in Interface.__subclasses__() if ".specs." in kind.__module__}
    return {Runtime} | {kind for kind in below if not kind.__name__.endswith("Functions")}


def words(*spelled: str) -> list[str]:
    return re.findall(r"\w+", " ".join(spelled))


def known() -> set[str]:
    """What a type may be spelled with: JSON's own, structs, interfaces."""
    return {
        *("int", "bool", "text", "base64", "float", "null", "or"),
        *methods.structs(),
        *(kind.__name__ for kind in declared()),
    }


def test_the_structs_say_what_may_be_left_out() -> None:
    told = methods.structs()
    assert told["ExecutionConfig"]["fields"]["loopTimeoutDurationNs"] == {"type": "int", "since": None, "default": -1}
    assert told["DataLocation"]["fields"]["padding"]["since"] == "fl5"
    assert told["BufferRole"]["fields"]["probability"] == {"type": "float", "since": None}
    for name, entry in told.items():
        for field in entry["fields"].values():
            assert set(words(field["type"])) <= known(), name


def test_every_name_that_a_manager_is_told_is_in_the_kit() -> None:
    told = {name for found in names.names().values() for name in found}
    permissions = {value for name, value in vars(npu_types).items() if name.endswith("PERMISSION")}
    assert permissions | set(npu_types.Flag) | set(npu_types.ATOMS) | {npu_types.SERVICE} == told
    assert all(f"| `{name}` |" in names.page() for name in told)
    assert set(npu_types.ATOMS_DUE) == set(npu_types.ATOMS)


def test_the_page_of_methods_is_the_generated_one() -> None:
    page = ROOT / "docs" / "wire-protocol-methods.md"
    assert page.read_text() == methods.page(), f"npu-conformance kit DIR && cp DIR/methods.md {page.relative_to(ROOT)}"


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kit", str(tmp_path), "--hal", "1.9"]) == USAGE
    assert "unknown HAL version '1.9'" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main(["kit", str(tmp_path / "file")]) == USAGE
    assert "cannot write the kit: File exists" in capsys.readouterr().err
