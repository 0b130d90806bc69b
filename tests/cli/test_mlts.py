"""`npu-conformance mlts`: the suite with models, beside another implementation, and the capabilities that follow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_conformance.cli.commands._capabilities import Ratio
from npu_conformance.cli.main import main
from npu_conformance.harness.run import engine
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts import AREAS
from npu_conformance.specs.neuralnetworks.enums import OperandType

Mlts = Callable[..., tuple[int, str, str]]


@pytest.fixture
def mlts(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mlts:
    """Run the command in a folder of its own: exit code, what it printed, what it complained of."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(("mlts", *arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


ONE = ("--models", "digits_conv", "--plugin", "reference")


def test_a_model_beside_another_implementation(mlts: Mlts, tmp_path: Path) -> None:
    code, out, _ = mlts(
        "accuracy", "latency", *ONE, "--beside", "reference", "--beside-option", "clock=real", "--report", "report"
    )
    assert code == 0
    assert "5 cases, scope default" in out
    assert [line.split()[0] for line in out.splitlines() if "digits_conv" in line] == ["digits_conv", "digits_conv"]
    cases = json.loads((tmp_path / "report" / "results.json").read_text())["cases"]
    measured = [one for case in cases for one in case["measurements"]]
    names = {(one["name"], one.get("beside", "")) for one in measured}
    assert {("inference", ""), ("inference", "reference"), ("top_1", ""), ("top_1", "reference")} <= names


def test_without_another_implementation(mlts: Mlts) -> None:
    code, out, _ = mlts("accuracy", *ONE, "--beside", "none", "--report", "report")
    assert code == 0
    assert "accuracy     top_1  agreement  largest_error" in out


def test_the_shards_of_a_run_know_the_other(mlts: Mlts, tmp_path: Path) -> None:
    code, _, _ = mlts("accuracy", *ONE, "--beside", "reference", "-n", "2", "--report", "report", "-q")
    assert code == 0
    assert '"beside"' in (tmp_path / "report" / "results.json").read_text()


def test_capabilities_are_ratios(mlts: Mlts, tmp_path: Path) -> None:
    code, out, _ = mlts("capabilities", *ONE, "--beside", "reference")
    lines = out.splitlines()
    assert code == int("declares much more speed than it has" in out)
    assert lines[0].startswith("execTime of operandPerformance: time on the device over time on reference")
    word, models, measured, least, declared, *_ = lines[2].split()
    assert (word, models) == ("TENSOR_FLOAT32", "1")
    assert float(measured) >= float(least) > 0.0
    assert float(declared) > 0.0
    assert not (tmp_path / ".npu-conformance").exists()


@pytest.mark.parametrize(
    ("least", "declared", "is_overstated"),
    [(1.0, 0.6, False), (1.0, 0.4, True), (0.3, 9.0, False), (9.0, None, False)],
)
def test_a_device_may_not_declare_much_more_speed_than_it_has(
    least: float, declared: float | None, is_overstated: bool
) -> None:
    assert Ratio(OperandType.TENSOR_FLOAT32, 2, 1.2 * least, least, declared).is_overstated is is_overstated


def test_capabilities_need_something_to_compare_with(mlts: Mlts) -> None:
    code, _, err = mlts("capabilities", *ONE, "--beside", "none")
    assert code == 2
    assert (
        err
        == "npu-conformance: capabilities are ratios to a CPU: name one by --beside, such as litert (extra [litert])\n"
    )


def test_an_unknown_model_is_refused(mlts: Mlts) -> None:
    code, _, err = mlts("--models", "digits", "--plugin", "reference")
    assert code == 2
    assert err.startswith("npu-conformance: --models: there is no model 'digits'")
    assert err.count("\n") == 1


def test_a_plug_in_beside_that_does_not_start_is_one_line(mlts: Mlts) -> None:
    code, _, err = mlts("accuracy", *ONE, "--beside", "nowhere:plugin")
    assert code == 2
    assert "nowhere" in err
    assert err.count("\n") == 1


def test_the_help_tells_every_area(mlts: Mlts, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["mlts", "--help"])
    told = capsys.readouterr().out
    assert [area for area in AREAS if f"\n  {area} " not in told] == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("latencies",), "(did you mean latency?)"),
        (("stress", "--models", "digits_conv"), "--models: stress has no cases of single models"),
        (("--models", "digits_conv", "latency"), "--models: latency is an area; name areas before --models"),
        (("capabilities", "latency"), "capabilities: not with areas or ids beside it"),
    ],
)
def test_what_nobody_can_mean_is_told(words: tuple[str, ...], expected: str, mlts: Mlts) -> None:
    code, _, err = mlts(*words, "--plugin", "reference", "--beside", "reference")
    assert code == 2
    assert expected in err
    assert err.count("\n") == 1


def test_capabilities_of_no_model_are_refused(mlts: Mlts) -> None:
    code, out, err = mlts("capabilities", "-k", "nosuch", "--plugin", "reference", "--beside", "reference")
    assert (code, out) == (2, "")
    assert "npu-conformance: nothing is selected by -k 'nosuch'" in err


@pytest.mark.parametrize(
    "words",
    [
        ("-n", "2"), ("--shard", "1/2"), ("--budget", "9s"), ("--report", "report"), ("--resume",), ("--last-failed",),
        ("--baseline", "report"), ("--require-conformant",), ("--vectors", "mine"),
    ],
)  # fmt: skip
def test_what_capabilities_cannot_do_is_refused(words: tuple[str, ...], mlts: Mlts) -> None:
    code, out, err = mlts("capabilities", *ONE, "--beside", "reference", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"npu-conformance: {words[0]}: not with capabilities")
    assert err.count("\n") == 1


def test_capabilities_write_the_log_of_the_wire(mlts: Mlts, tmp_path: Path) -> None:
    mlts("capabilities", *ONE, "--beside", "reference", "--wire-log", "wire.log")
    assert "prepareModel" in (tmp_path / "wire.log").read_text()


def test_what_the_capabilities_lack_is_told(mlts: Mlts, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(case: Case, context: CaseContext) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "_judge", interrupted)
    code, out, _ = mlts("capabilities", *ONE, "--beside", "reference")
    assert code == 3
    assert "NOT-RUN ML-LAT-001: mlts.latency.digits_conv.inference: interrupted while it ran\n" in out
    assert "no model ran both on the device and on reference: nothing can be said\n" in out
