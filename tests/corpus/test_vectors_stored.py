"""The stored vectors: in step with their generators, legal where they say so, and agreeing with their oracles."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from example_catalogue import CATALOGUE
from msgspec.structs import replace
from patience import SECONDS

from npu_conformance.cli.commands._witness_tally import Tally
from npu_conformance.cli.main import main
from npu_conformance.corpus import disagreements, generators, vectors, witnesses
from npu_conformance.corpus.generators import unreached
from npu_conformance.corpus.vector_types import ANDROID
from npu_conformance.corpus.vectors import Example, Vector, writing
from npu_conformance.corpus.vectors.broken_clauses import broken_clauses
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.outcome_table import USAGE, WRONG
from npu_conformance.harness.run import index
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.versions import NEWEST, Version

OPERATIONS = vectors.operations()


def stored(operation: str, *, rejected: bool) -> list[Vector]:
    headers = (header for header in vectors.headers(operation) if (header.rejected is not None) == rejected)
    return [vectors.load(operation, header.name) for header in headers]


def test_every_generator_has_its_file_and_no_file_is_without_one() -> None:
    assert generators.names() == OPERATIONS


@pytest.mark.parametrize("operation", generators.names())
def test_files_are_in_step_with_the_generators(operation: str) -> None:
    assert vectors.path_of(operation).read_text() == writing.generated(operation), (
        "run `npu-conformance vectors generate`"
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_expected_values_are_what_the_oracles_find(operation: str) -> None:
    assert [str(found) for vector in stored(operation, rejected=False) for found in witnesses.witness(vector)] == []


DEFINED_LATER = {f"L2_NORMALIZATION.{kind}_zeros" for kind in ("float32", "float16", "quant8")}
"""Vectors that a version already takes for which the result is only defined later."""


@pytest.mark.parametrize("operation", OPERATIONS)
def test_vectors_are_legal_from_the_version_they_state(operation: str) -> None:
    for vector in stored(operation, rejected=False):
        for version in (vector.since, NEWEST):
            assert broken_clauses(vector, vector.examples[0], version) == set(), (vector.name, version)
        minimal = minimal_version(build_model(vector, vector.since).model)
        if _leaves_an_output_open(vector):
            # The model is legal before, and the request is not: it would have to say the shape (REQUEST.R5).
            minimal = max(minimal, Version.V1_2)
        assert minimal == vector.since or f"{operation}.{vector.name}" in DEFINED_LATER, vector.name


def _leaves_an_output_open(vector: Vector) -> bool:
    operands = [vector.operands[name] for name in vector.outputs]
    return any(operand.type.name.startswith("TENSOR") and 0 in (operand.dimensions or (0,)) for operand in operands)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_rejected_vectors_break_their_clause_and_no_other(operation: str) -> None:
    for vector in stored(operation, rejected=True):
        assert vector.rejected is not None
        for version in (vector.since, vector.rejected.until):
            found = broken_clauses(vector, vector.examples[0], version)
            assert found == {vector.rejected.clause}, (vector.name, version)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_clause_has_a_rejection_or_a_written_reason(operation: str) -> None:
    broken = {header.rejected.clause for header in vectors.headers(operation) if header.rejected}
    for clause in rules.clauses(operation):
        has_reason = bool(unreached.reason(clause))
        assert clause.id in broken or has_reason, clause.id
        assert not (clause.id in broken and has_reason) or clause.basis == "text", clause.id


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_every_device_must_reject_is_not_executed_by_all_of_android(operation: str) -> None:
    taken: dict[str, set[bool]] = {}
    for header in vectors.headers(operation):
        if header.rejected is not None:
            taken.setdefault(header.rejected.clause, set()).add(ANDROID in header.taken_by)
    for clause in rules.clauses(operation):
        found = taken.get(clause.id, set())
        assert clause.basis != "both" or found != {True}, f"{clause.id}: only documents ask for it"
        assert clause.basis != "text" or False not in found, f"{clause.id}: Android asks for it, too"


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - {"FILL"}))
def test_no_expected_output_is_the_same_everywhere(operation: str) -> None:
    """Such a vector could not tell a right element from a wrong one in its place."""
    for vector in stored(operation, rejected=False):
        for example in vector.examples:
            for name, array in example.outputs.items():
                assert array.size <= 2 or name in vector.ignored or array.min() != array.max(), vector.name


def test_the_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in vectors.FOLDER.iterdir()) < 8_000_000


def test_listing_needs_no_numpy() -> None:
    code = (
        "import sys\n"
        "from npu_conformance.cli.main import main\n"
        "assert main(['list']) == 0\n"
        "assert 'numpy' not in sys.modules\n"
    )
    index.by_area()  # whoever is the first to list makes it
    listed = subprocess.run([sys.executable, "-c", code], check=True, timeout=SECONDS, stdout=subprocess.PIPE)
    assert listed.stdout.count(b"\n") > 20_000


def test_every_oracle_disagreement_is_one_clear_line() -> None:
    vector = vectors.load("ADD", "float32_all_bits")

    def off(vector: Vector, example: Example) -> dict[str, vectors.Array]:
        return {name: array + 1 for name, array in example.outputs.items()}

    (found,) = witnesses.witness(vector, {"litert": off})
    assert re.fullmatch(
        r"ADD\.float32_all_bits: output: the vector says \S+ at \[0, 0\], litert computes \S+", str(found)
    )


def test_engines_within_the_public_tolerance_agree() -> None:
    vector = vectors.load("ADD", "quant8_scales_far_apart")

    def beside(vector: Vector, example: Example) -> dict[str, vectors.Array]:
        return {name: array - (array > 0) for name, array in example.outputs.items()}

    assert witnesses.witness(vector, {"litert": beside}) == []
    assert witnesses.witness(vector, {"oracle": beside}) != []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_oracle_is_a_witness_of_every_vector_and_each_witness_is_there_once(operation: str) -> None:
    for vector in stored(operation, rejected=False):
        assert "oracle" in vector.witnesses
        assert len(set(vector.witnesses)) == len(vector.witnesses)
    assert not any(vector.witnesses for vector in stored(operation, rejected=True))


def test_a_disagreement_is_explained_of_stored_vectors_of_which_the_engine_is_no_witness() -> None:
    for known in disagreements.explained():
        assert known.vectors
        for name in known.vectors:
            vector = vectors.load(known.operation, name)
            assert vector.rejected is None
            assert known.engine not in vector.witnesses


@pytest.fixture
def relu(tmp_path: Path) -> Path:
    """A copy of the vectors of RELU, in a folder of its own."""
    return Path(shutil.copy(vectors.path_of("RELU"), tmp_path))


def witnesses_in(file: Path) -> dict[str, list[str]]:
    return {vector["name"]: vector.get("witnesses", []) for vector in json.loads(file.read_text())["vectors"]}


def test_recording_changes_one_engine_of_the_vectors_of_one_operation(relu: Path) -> None:
    before, text = witnesses_in(relu), relu.read_text()
    writing.record("nearby", {"RELU": ["float32_rank1", "float32_rank2"]}, folder=relu.parent)
    changed = {name: found for name, found in witnesses_in(relu).items() if found != before[name]}
    expected = ["oracle", "android", "litert", "nearby", "onnx", "tflm"]
    assert changed == {"float32_rank1": expected, "float32_rank2": expected}
    writing.record("nearby", {"RELU": []}, folder=relu.parent)
    assert relu.read_text() == text
    assert list(relu.parent.iterdir()) == [relu]


def test_what_an_engine_takes_is_recorded_and_stays(relu: Path) -> None:
    refused = next(header.name for header in vectors.headers("RELU") if header.rejected is not None)
    for names in ([refused], []):
        writing.record("nearby", {"RELU": []}, {"RELU": names}, relu.parent)
        takers = {vector["name"]: vector.get("taken_by", []) for vector in json.loads(relu.read_text())["vectors"]}
        assert {name for name, found in takers.items() if "nearby" in found} == {refused}


def test_generating_keeps_the_engines_of_equal_vectors_and_drops_those_of_others(relu: Path) -> None:
    text, document = relu.read_text(), json.loads(relu.read_text())
    by_name = {vector["name"]: vector for vector in document["vectors"]}
    by_name["float32_rank1"]["examples"][0]["outputs"]["output"][0] += 1
    by_name["float32_rank2"]["description"] = "another description"
    relu.write_text(json.dumps(document))
    writing.write_vectors("RELU", relu.parent)
    generated = witnesses_in(relu)
    assert generated.pop("float32_rank1") == ["oracle"]
    relu.write_text(text)
    stored_ones = witnesses_in(relu)
    assert stored_ones.pop("float32_rank1") == ["oracle", "android", "litert", "onnx", "tflm"]
    assert generated == stored_ones


def test_vectors_that_are_no_json_are_one_line_as_they_are_generated(relu: Path) -> None:
    relu.write_text("<<<<<<< HEAD")
    with pytest.raises(DocumentError, match=r"relu\.json: not JSON"):
        writing.generated("RELU", relu.parent)


def test_an_engine_that_can_not_run_a_vector_does_not_agree_with_it() -> None:
    vector = vectors.load("ADD", "float32_all_bits")
    assert not witnesses.testify(vector, "litert", lambda vector, example: None).agrees
    assert not witnesses.testify(replace(vector, ignored=vector.outputs), "oracle", witnesses.oracle).agrees
    assert witnesses.testify(vector, "oracle", witnesses.oracle).agrees


def wrong_by_ten(vector: Vector, example: Example) -> dict[str, vectors.Array] | None:
    """An engine for the command: it takes tensors of quant8 only."""
    found = {name: array - 10 * (array >= 10) for name, array in example.outputs.items()}
    return found if vector.operands[vector.outputs[0]].scale else None


def test_the_command_tells_agreed_from_disagreed_and_from_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    headers = [header for header in vectors.headers("RELU") if header.rejected is None]
    engine = f"{__name__}:{wrong_by_ten.__name__}"
    assert main(["vectors", "witness", "RELU", "--engine", engine]) == WRONG
    *lines, oracle, other = capsys.readouterr().out.splitlines()
    assert oracle.startswith(f"oracle: {len(headers)} agreed, 0 disagreed, ")
    assert lines
    assert all(line.startswith("RELU.quant8_") for line in lines)
    assert other.startswith(f"{engine}: ")
    assert f" {len(lines)} disagreed, 0 " in other


def test_a_disagreement_on_record_is_shown_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    vector = vectors.load("QUANTIZE", "float32_to_quant8_infinities")
    tally = Tally("litert", ["QUANTIZE"])
    tally.add(vector, witnesses.testify(vector, "litert", wrong_by_ten))
    assert "(explained: LiteRT does not saturate" in capsys.readouterr().out
    assert (tally.disagreed, tally.explained, tally.could_not_run) == (0, 1, 0)


def test_the_oracle_is_not_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "witness", "--record"]) == USAGE
    assert "--record needs an --engine" in capsys.readouterr().err


def test_vectors_of_a_vendor_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--engine", "onnx", "--record", "--catalogue", str(CATALOGUE)]
    assert main(["vectors", "witness", *options]) == USAGE
    assert "leave out --catalogue" in capsys.readouterr().err


def dies_on_quant8(vector: Vector, example: Example) -> dict[str, vectors.Array]:
    """An engine for the command: tensors of quant8 end its process."""
    if vector.operands[vector.outputs[0]].scale:
        faulthandler.disable()  # pytest's: a page of stacks for each vector
        os.kill(os.getpid(), signal.SIGABRT)
    return dict(example.outputs)


def test_an_engine_that_dies_is_a_disagreement_and_not_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    taken = [vectors.load("RELU", header.name) for header in vectors.headers("RELU") if not header.rejected]
    deadly = [vector.name for vector in taken if vector.operands[vector.outputs[0]].scale]
    engine = f"{__name__}:{dies_on_quant8.__name__}"
    assert main(["vectors", "witness", "RELU", "--engine", engine]) == WRONG
    *lines, _, other = capsys.readouterr().out.splitlines()
    assert lines == [f"RELU.{name}: all outputs: {engine}: its process was killed by SIGABRT" for name in deadly]
    assert f" {len(taken) - len(deadly)} agreed, {len(deadly)} disagreed, " in other


def missing_engine(vector: Vector, example: Example) -> dict[str, vectors.Array]:
    """An engine for the command whose package is not there."""
    raise LoadError("not installed: pip install npu-conformance[some]")


def test_an_engine_that_is_not_installed_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    engine = f"{__name__}:{missing_engine.__name__}"
    assert main(["vectors", "witness", "RELU", "--engine", engine]) == USAGE
    assert capsys.readouterr().err.strip().endswith("not installed: pip install npu-conformance[some]")
