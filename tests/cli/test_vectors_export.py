"""Vectors as one shows and exports them: by the ids that are printed, and as C that compiles."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from campaigns import SETTINGS, START
from patience import SECONDS

from npu_conformance.cli.main import main
from npu_conformance.faults import plugin
from npu_conformance.fuzz.lib.campaign.documents import Sighting
from npu_conformance.fuzz.lib.campaign.replay_files import replay_file
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.specs.neuralnetworks.types import Model, Subgraph

EMPTY = msgspec.json.encode(Model(main=Subgraph(operands=(), operations=(), input_indexes=(), output_indexes=())))
IDS = ("vts.generated.RESIZE_BILINEAR.by_hand_half[nchw]",)
PROGRAM = r"""
#include "npu_vectors.h"
#include <stdio.h>
#include <string.h>

int main(void) {
  for (int i = 0; i < npu_vector_count; i++) {
    const npu_vector* vector = &npu_vectors[i];
    const npu_value* output = vector->outputs;
    if (strcmp(vector->name, "RESIZE_BILINEAR.by_hand_half[nchw]") != 0) continue;
    printf("%d %d %d %d", (int)vector->input_count, (int)output->rank, (int)output->type, (int)output->dimensions[3]);
    for (size_t n = 0; n < output->bytes / sizeof(float); n++) printf(" %g", ((const float*)output->data)[n]);
  }
  return 0;
}
"""


@pytest.mark.parametrize(("compiler", "words"), [("cc", ("-std=c99",)), ("c++", ("-std=c++11", "-x", "c++"))])
def test_the_header_compiles_and_has_the_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], compiler: str, words: tuple[str, ...]
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} on this machine")
    assert main(["vectors", "export", IDS[0], "PAD.float32_rank1", "--to", str(tmp_path)]) == OK
    (tmp_path / "t.c").write_text(PROGRAM)
    command = [compiler, *words, "-Wall", "-Wextra", "-Werror", "-Wno-deprecated", "-o", "t", "t.c"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=SECONDS)
    told = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert told.stdout == "6 4 3 3 0 3 6"
    stored = json.loads((tmp_path / "RESIZE_BILINEAR.by_hand_half[nchw].json").read_text())
    assert stored["operation"] == "RESIZE_BILINEAR"
    assert list(stored["examples"][0]["outputs"].values()) == [[0.0, 3.0, 6.0]]


def test_an_operation_means_all_of_its_vectors_each_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "export", "IF", "IF.nested_then_else", "--to", str(tmp_path)]) == OK
    files = list(tmp_path.glob("IF.*.json"))
    assert capsys.readouterr().out.startswith(f"{len(files)} vectors in {tmp_path}")


def test_show_takes_the_ids_that_are_printed_and_tells_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "show", IDS[0], "--as", "text"]) == OK
    assert "example 0: expected output = [[[[0.0, 3.0, 6.0]]]]" in capsys.readouterr().out


def shown(capsys: pytest.CaptureFixture[str], name: str | Path, form: str = "text") -> str:
    capsys.readouterr()
    assert main(["vectors", "show", str(name), "--as", form]) == OK
    return capsys.readouterr().out


def test_show_takes_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faulty = ["--plugin", f"{plugin.__name__}:plugin", "--plugin-option", "fault=state-plan-by-element-count"]
    case = "vts.several_shapes.EXPAND_DIMS.same_size"
    assert main(["run", case, *faulty, "--report", str(tmp_path), "-q", "--isolation", "inprocess"]) == 1
    (file,) = (tmp_path / "failures").iterdir()
    out = shown(capsys, file)
    name = next(line for line in out.splitlines() if line.endswith(":"))
    assert "EXPAND_DIMS(%0" in out
    assert shown(capsys, f"{case}#{name.removesuffix(':')}").partition("\n")[2] in out
    assert json.loads(shown(capsys, file, "json"))
    assert shown(capsys, file, "dot").startswith("digraph model {")


def test_show_takes_drawn_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "vts.drawn.ABS.models#seed_1_model_0").startswith("seed_1_model_0:\nmodel of 1 graph")
    assert shown(capsys, "vts.drawn.ABS.models").count("= ABS(%0)") > 5


@pytest.mark.parametrize(
    ("fuzzer", "lines", "text"),
    [
        ("requests", ['{"vector":"ABS/float32_rank1","edits":[["inputs",0,"length",3]]}'], "edited: inputs 0 length 3"),
        ("requests", ["no JSON"], "no JSON"),
        ("models", [EMPTY.decode()], "model of 1 graph and 0 pools"),
        ("wire", ["{}", "x"], "{}\nx"),
    ],
)
def test_show_takes_findings(
    fuzzer: str, lines: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Sighting(kind="crash", where="SIGSEGV", message="it died", data="\n".join(lines).encode(), execution=1)
    file = tmp_path / "finding.json"
    file.write_bytes(replay_file(fuzzer, found, START, SETTINGS, str(file)))
    assert text in shown(capsys, file)
    assert lines[0] in shown(capsys, file, "json")


def test_show_says_what_has_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "finding.json"
    found = Sighting(kind="crash", where="SIGSEGV", message="it died", data=b"x", execution=1)
    for fuzzer, problem in (("wire", "a finding of wire has no model to draw"), ("models", "its input is no model")):
        file.write_bytes(replay_file(fuzzer, found, START, SETTINGS, str(file)))
        assert main(["vectors", "show", str(file), "--as", "dot"]) == USAGE
        assert capsys.readouterr().err == f"npu-conformance: {file}: {problem}\n"


@pytest.mark.parametrize(
    "payload", [{"graphs": {"one": {}}}, {"vector": [], "operation": "ADD", "id": "x"}, {"graphs": []}]
)
def test_show_says_that_no_model_can_be_made_of_a_payload(
    payload: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "finding.json"
    found = Sighting(kind="crash", where="SIGSEGV", message="it died", data=b"x", execution=1)
    file.write_bytes(replay_file("wire", found, START, SETTINGS, str(file)))
    document = json.loads(file.read_bytes())
    file.write_text(json.dumps({**document, "case": "vts.generated.ADD.x", "payload": payload}))
    assert main(["vectors", "show", str(file)]) == USAGE
    said = capsys.readouterr().err
    assert said.startswith(f"npu-conformance: {file}: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("RESIZE_BILINEAR.by_hand_half[nchv]", "there is no variation 'nchv' of it; there are "),
        ("vts.generated.RESIZE_BILINEAR.by_hand_hall", "did you mean by_hand_half"),
        ("vts.queries.liveness.ping", "not a case of stored or drawn models"),
        ("vts.drawn.ABS.models#seed_0", "there are seed_0_model_0 "),
        ("failures/gone.json", "failures/gone.json: No such file or directory"),
    ],
)
def test_a_word_that_means_no_vector_is_one_line(word: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "show", word]) == USAGE
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1
