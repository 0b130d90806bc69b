"""`vectors witness --driver` and `--engine`: HAL drivers and engines of one's own as witnesses of stored vectors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, USAGE, WRONG

FAULTY = "npu_conformance.faults.plugin:plugin"


def test_a_driver_agrees_and_executes_nothing_that_is_to_be_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "witness", "TILE", "--driver", "mine=reference"]) == OK
    summary = capsys.readouterr().out.splitlines()[-1]
    assert summary.startswith("mine: ")
    assert ", 0 disagreed, " in summary
    assert "to be refused" not in summary


def test_what_it_executes_although_it_is_to_be_refused_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["vectors", "witness", "TILE", "--driver", f"mine={FAULTY}", "--plugin-option", "fault=unchecked-tile-c3"]
    assert main(command) == OK
    assert capsys.readouterr().out.splitlines()[-1].endswith(", 1 executed that should be refused")


def test_a_driver_that_is_wrong_disagrees(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["vectors", "witness", "PAD", "--driver", f"mine={FAULTY}", "--plugin-option", "fault=pad-raw-zero"]
    assert main(command) == WRONG
    assert "PAD.quant8_rank1: output: the vector says 9 at [0], mine computes 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("driver", "message"),
    [("reference", "expected NAME=PLUGIN"), ("a=reference", "HAL 1.2 or later"), ("a=nowhere:plugin", "nowhere")],
)
def test_what_is_no_driver_is_told(driver: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["vectors", "witness", "TILE", "--driver", driver, "--plugin-option", "hal=1.1"]
    assert main(command) != OK
    assert message in capsys.readouterr().err


def test_an_engine_of_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "engine_of_this_folder.py").write_text("def knows_all(vector, example):\n    return example.outputs\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.delitem(sys.modules, "engine_of_this_folder", raising=False)
    engine = "engine_of_this_folder:knows_all"
    assert main(["vectors", "witness", "RELU", "--engine", engine]) == OK
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{engine}: ")


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("litret", "expected one of litert, tflm, onnx, or MODULE:FUNCTION (did you mean litert?)"),
        ("json", "expected one of litert, tflm, onnx, or MODULE:FUNCTION"),
        ("nowhere_at_all:engine", "No module named 'nowhere_at_all'"),
        ("json:engine", "module 'json' has no attribute 'engine'"),
        ("json:__name__", "expected MODULE:FUNCTION, and it is a str"),
    ],
)
def test_what_is_no_engine_is_told(engine: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "witness", "RELU", "--engine", engine]) == USAGE
    assert capsys.readouterr().err.strip().endswith(f"--engine {engine}: {message}")
