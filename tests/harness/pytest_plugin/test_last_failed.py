"""pytest --lf: what failed last is run again, cases and own tests alike."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from places import HOSTILE
from warm_python import run_pytest

pytest_plugins = ("pytester",)

Run = Callable[..., pytest.RunResult]
PLUGIN = "--npu-plugin=vendor_plugins:first_day"


def test_what_failed_last_is_run_again_and_the_rest_is_counted(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE), prepend=os.pathsep)
    words = (PLUGIN, "--npu-isolation=inprocess", "-p", "no:randomly", "vts.queries", "vts.validation")
    first = run_pytest(*words, "-k", "queries or RELU6 and remove")
    assert first.parseoutcomes()["failed"] == 4
    again = run_pytest(*words, "--lf")
    assert again.parseoutcomes()["failed"] == 4
    again.stdout.re_match_lines([r"  not selected: \d\d,\d{3} cases that may apply"])


def test_variations_that_failed_last_are_run_again(run: Run, pytester: pytest.Pytester) -> None:
    words = ("vts.generated.PAD", "-k", "quant8_zero_point", "-p", "cacheprovider")
    fault = ("--npu-option", "fault=pad-raw-zero")
    pytester.makefile(".ini", pytest="[pytest]\ncache_dir = kept\n")
    first = run(*words, *fault, plugin="--npu-plugin=npu_conformance.faults.plugin:plugin").parseoutcomes()
    again = run(*words, *fault, "--lf", plugin="--npu-plugin=npu_conformance.faults.plugin:plugin").parseoutcomes()
    assert again["failed"] == first["failed"] > 1


def test_own_tests_that_failed_hide_no_case_that_did(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE), prepend=os.pathsep)
    pytester.makepyfile(test_own="import os\ndef test_own():\n    assert 'REPAIRED' in os.environ\n")
    words = (
        PLUGIN,
        "--npu-isolation=inprocess",
        "-p",
        "no:randomly",
        "vts.validation",
        "test_own.py",
        "-k",
        "own or RELU6 and remove",
    )
    first = run_pytest(*words).parseoutcomes()
    monkeypatch.setenv("REPAIRED", "")
    again = run_pytest(*words, "--lf").parseoutcomes()
    assert (again["failed"], again["passed"]) == (first["failed"] - 1, 1)
