"""Vectors as one shows and exports them: by the ids that are printed, and as C that compiles."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from patience import SECONDS

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, USAGE

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


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("RESIZE_BILINEAR.by_hand_half[nchv]", "there is no variation 'nchv' of it; there are "),
        ("vts.generated.RESIZE_BILINEAR.by_hand_hall", "did you mean by_hand_half"),
        ("vts.queries.liveness.ping", "no vectors of 'vts'"),
    ],
)
def test_a_word_that_means_no_vector_is_one_line(word: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "show", word]) == USAGE
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1
