"""Extensions against devices: green on the driver of the example, red on each wrong one, silent on one without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from patience import SECONDS
from places import HOSTILE, ROOT

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, USAGE, WRONG
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.neuralnetworks import registered_extensions

EXAMPLE = ROOT / "examples" / "extension"
CATALOGUE = EXAMPLE / "catalogue"
EXTENSION = "vts.extension.com_example_npu"

Outcome = tuple[int, dict[str, str], str]
Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the cases of the extension; returns exit code, outcomes by case, and what was printed."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # for shards
    monkeypatch.chdir(tmp_path)

    def run(plugin: str, *more: str) -> Outcome:
        words = ("run", "vts.extension", "--quiet", "--catalogue", str(CATALOGUE), "--report", "report")
        code = main([*words, "--plugin", plugin, "--isolation", "inprocess", *more])
        results = msgspec.json.decode((tmp_path / "report" / "results.json").read_bytes(), type=Results)
        printed = capsys.readouterr()
        return code, {case.case: case.outcome.value for case in results.cases}, printed.out + printed.err

    return run


def red(outcomes: dict[str, str]) -> set[str]:
    return {case for case, outcome in outcomes.items() if outcome in ("fail", "crash", "hang", "suite-error")}


@pytest.mark.parametrize("version", ["1.2", "1.3", "fl5", "fl8"])
def test_the_driver_of_the_example_is_green(run: Run, version: str) -> None:
    code, outcomes, _ = run("driver:plugin", "--hal", version)
    assert code == OK
    assert set(outcomes.values()) == {"pass"}
    assert "vts.extension.EXAMPLE_CLAMP.float32[all_inputs_as_internal]" in outcomes
    assert "vts.extension.EXAMPLE_REQUANTIZE.scale_of_zero" in outcomes


def test_before_1_2_nothing_of_it_applies(run: Run) -> None:
    code, outcomes, _ = run("driver:plugin", "--hal", "1.1")
    assert code == OK
    assert set(outcomes.values()) == {"not-applicable"}


def test_a_device_without_the_extension_supports_nothing_of_it(run: Run) -> None:
    code, outcomes, _ = run("reference")
    assert code == OK
    assert set(outcomes.values()) == {"not-supported"}


def test_processes_get_the_catalogue_too(run: Run) -> None:
    code, outcomes, _ = run("driver:plugin", "-n", "2", "--isolation", "process")
    assert code == OK
    assert set(outcomes.values()) == {"pass"}


def positive(outcomes: dict[str, str], operation: str) -> set[str]:
    wrong = ("low_above_high", "output_too_long", "no_parameters", "scale_of_zero", "zero_point_out_of_range")
    of_it = {case for case in outcomes if case.startswith(f"vts.extension.{operation}.")}
    return {case for case in of_it if case.split(".")[3] not in wrong}


def test_what_is_listed_has_to_be_supported(run: Run) -> None:
    code, outcomes, printed = run("extension_drivers:lists_only")
    assert code == WRONG
    expected = positive(outcomes, "EXAMPLE_CLAMP") | positive(outcomes, "EXAMPLE_REQUANTIZE")
    about_all = {f"{EXTENSION}.{name}" for name in ("support", "prefixes", "side_by_side", "mapping")}
    assert red(outcomes) == expected | about_all
    assert "lists the extension com.example.npu, but does not support EXAMPLE_CLAMP" in printed


def test_what_is_supported_has_to_be_listed(run: Run) -> None:
    code, outcomes, printed = run("extension_drivers:unlisted")
    assert code == WRONG
    expected = positive(outcomes, "EXAMPLE_CLAMP") | positive(outcomes, "EXAMPLE_REQUANTIZE")
    assert red(outcomes) == {*expected, f"{EXTENSION}.support"}
    assert "but does not list the extension com.example.npu" in printed


def test_types_have_the_sizes_of_the_catalogue(run: Run) -> None:
    code, outcomes, printed = run("extension_drivers:other_size")
    assert code == WRONG
    assert red(outcomes) == {f"{EXTENSION}.operand_types"}
    assert "operand type 0 (TENSOR_EXAMPLE_ASYMM16): byteSize: expected 2, found 4" in printed


def test_a_prefix_is_the_model_s(run: Run) -> None:
    code, outcomes, _ = run("extension_drivers:remembers_prefix")
    assert code == WRONG
    assert f"{EXTENSION}.prefixes" in red(outcomes)


def test_a_prefix_stays_the_model_s_while_another_is_prepared(run: Run) -> None:
    code, outcomes, printed = run("extension_drivers:last_prefix_wins")
    assert code == WRONG
    assert red(outcomes) == {f"{EXTENSION}.side_by_side"}
    assert "expected NONE, found GENERAL_FAILURE" in printed


def test_a_mapping_is_one_to_one(run: Run) -> None:
    code, outcomes, _ = run("extension_drivers:takes_any_mapping")
    assert code == WRONG
    assert red(outcomes) == {f"{EXTENSION}.mapping"}


def test_a_wrong_last_element_is_seen(run: Run) -> None:
    code, outcomes, _ = run("extension_drivers:wrong_at_the_end")
    assert code == WRONG
    expected = positive(outcomes, "EXAMPLE_CLAMP") | positive(outcomes, "EXAMPLE_REQUANTIZE")
    assert red(outcomes) == {*expected, f"{EXTENSION}.side_by_side"}


def test_ignored_parameters_are_seen(run: Run) -> None:
    code, outcomes, printed = run("extension_drivers:ignores_parameters")
    assert code == WRONG
    assert red(outcomes) == positive(outcomes, "EXAMPLE_REQUANTIZE")
    assert "elements outside 1; " in printed


def test_a_failure_is_replayed_with_its_catalogue_only(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run("extension_drivers:ignores_parameters")
    file = Path("report/failures/vts.extension.EXAMPLE_REQUANTIZE.shifted_only.json")
    assert json.loads(file.read_text())["payload"]["extensions"] == ["com.example.npu"]
    replay = ("replay", str(file), "--plugin")
    assert main([*replay, "extension_drivers:ignores_parameters"]) == USAGE
    line = "vts.extension.EXAMPLE_REQUANTIZE.shifted_only: needs the extension com.example.npu: give its folder with"
    assert line in capsys.readouterr().err
    assert main([*replay, "extension_drivers:ignores_parameters", "--catalogue", str(CATALOGUE)]) == WRONG
    assert main([*replay, "driver:plugin", "--catalogue", str(CATALOGUE)]) == OK


def test_a_failure_about_the_whole_extension_is_replayed_too(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run("extension_drivers:other_size")
    replay = ("replay", f"report/failures/{EXTENSION}.operand_types.json", "--plugin", "driver:plugin")
    assert main(list(replay)) == USAGE
    assert "give its folder with --catalogue DIR" in capsys.readouterr().err
    assert main([*replay, "--catalogue", str(CATALOGUE)]) == OK


@pytest.mark.parametrize(("folder", "code", "line"), [("catalogue", 0, "28 passed"), ("nowhere", 4, "No such file")])
def test_pytest_takes_a_catalogue(folder: str, code: int, line: str, run: Run, tmp_path: Path) -> None:
    area = ROOT / "vts" / "extension.py"
    words = ["--npu-plugin=driver:plugin", f"--npu-catalogue={EXAMPLE / folder}", "--npu-report=report"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(area), *words]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert process.returncode == code, process.stdout + process.stderr
    assert line in process.stdout + process.stderr


def test_a_run_leaves_nothing_registered(run: Run) -> None:
    run("driver:plugin")
    assert registered_extensions.all_registered() == ()
