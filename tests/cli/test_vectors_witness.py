"""`vectors witness --driver`: a HAL driver as a witness of stored vectors."""

from __future__ import annotations

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, WRONG

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
    assert capsys.readouterr().out.splitlines()[-1].endswith(", 1 executed that are to be refused")


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
