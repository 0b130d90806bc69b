"""Each option of `npu-conformance run` has its counterpart in pytest, and docs/pytest.md names it."""

from __future__ import annotations

import argparse
import json
import os
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from npu_conformance.cli.commands import run as command
from npu_conformance.harness.pytest_plugin import options
from npu_conformance.harness.pytest_plugin.reporting import usage_error
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.specs.documents import DocumentError

pytest_plugins = ("pytester",)

Run = Any
PAGE = (ROOT / "docs" / "pytest.md").read_text()
PING, AVAILABLE = "vts.queries.liveness.ping", "vts.queries.status.available"


class _Names:
    """Stands for pytest's parser and group: keeps the names of options."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def getgroup(self, *_: str) -> _Names:
        return self

    def addoption(self, name: str, **_: object) -> None:
        self.names.append(name)


def _table() -> dict[str, str]:
    """The counterpart of each option of the command, as the page has it."""
    rows = re.findall(r"^\| (`-.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    return {word: twins for words, twins in rows for word in re.findall(r"`(-[^` ]+)`", words)}


def test_each_option_has_a_counterpart() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    offered = {name for action in parser._actions if action.help != argparse.SUPPRESS for name in action.option_strings}
    named = _Names()
    options.pytest_addoption(named)  # type: ignore[arg-type]
    ours = {word for words in _table().values() for word in re.findall(r"`(--npu-[^` ]+)`", words)}
    assert set(_table()) == offered | {"--plugin"}
    assert ours == set(named.names)


def test_the_example_of_the_page_runs(run: Run, pytester: pytest.Pytester) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    pytester.makepyfile(test_our_driver=example.replace('== "me"', '== "npu-conformance"'))
    words = ("test_our_driver.py", "--pyargs", "npu_conformance.vts.queries", "-k", "ping or our_driver")
    run(*words, plugin="--npu-plugin=reference").assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("workers", "counts"),
    [("0", {}), ("1", {"pass": 1})],  # the first verdict of a worker tells the controller of the run
)
def test_a_budget_leaves_out_what_it_does_not_reach(
    run: Run, pytester: pytest.Pytester, workers: str, counts: dict[str, int]
) -> None:
    result = run(PING, AVAILABLE, "--npu-budget=0.0000001s", "--npu-report=report", "-n", workers)
    assert json.loads((pytester.path / "report" / "results.json").read_text())["counts"] == counts
    result.stdout.fnmatch_lines([f"  left out by the budget: {2 - len(counts)} case*"])


def test_a_run_is_resumed(run: Run, pytester: pytest.Pytester) -> None:
    for resume, expected in ((), {"passed": 2}), (("--npu-resume",), {"deselected": 2}):
        result = run(PING, AVAILABLE, "--npu-report=report", *resume)
        assert result.ret == 0
        assert result.parseoutcomes() == expected
    counts = json.loads((pytester.path / "report" / "results.json").read_text())["counts"]
    assert counts == {"pass": 2}


def test_the_order_follows_from_the_seed(run: Run) -> None:
    def order(*words: str) -> list[str]:
        found: list[str] = run("vts.queries", "--collect-only", "-q", *words).outlines
        return [line for line in found if "::" in line]

    assert order("--npu-shuffle", "--npu-seed=1") == order("--npu-shuffle", "--npu-seed=1") != order()


def test_what_was_red_before_is_no_regression(run: Run, pytester: pytest.Pytester) -> None:
    words = ("vts.validation", "-k", "RELU6 and remove_operand")
    assert run(*words, "--npu-report=before").ret == 1
    after = run(*words, "--npu-report=after", "--npu-baseline=before/results.json")
    assert "regression:" not in after.stdout.str()
    assert json.loads((pytester.path / "after" / "results.json").read_text())["exit_code"] == 0


def test_a_log_and_a_trace(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--npu-log: needs the environment variable NPU_VLOG" in run(PING, "--npu-log=log").stderr.str()
    monkeypatch.setitem(os.environ, "NPU_VLOG", "all")
    assert run(PING, "--npu-log=log", "--npu-trace=trace.json").ret == 0
    assert Path(pytester.path, "log").exists()
    assert PING in Path(pytester.path, "trace.json").read_text()


@pytest.mark.parametrize("way", ["--setup-plan", "--setup-only"])
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_plan_executes_nothing(run: Run, pytester: pytest.Pytester, way: str, workers: str) -> None:
    result = run(PING, AVAILABLE, way, "-n", workers, "--npu-report=report", plugin="--npu-plugin=nowhere:nothing")
    assert result.ret == 0
    if workers == "0":
        result.stdout.fnmatch_lines([f"*::{PING}*", f"*::{AVAILABLE}*", "*no tests ran*"])
    assert not (pytester.path / "report").exists()


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["--npu-hal=9.9"], "ERROR: --npu-hal: unknown HAL version '9.9': *"),
        (["--npu-shard=3/2"], "ERROR: --npu-shard: expected I/N with 1 <= I <= N, found '3/2'"),
        (["--npu-budget=5"], "ERROR: --npu-budget: expected a time *"),
        (["--npu-time-scale=0"], "ERROR: --npu-time-scale: expected a positive number, found 0"),
        (["--npu-beside-option=a=b"], "ERROR: --npu-beside-option: goes with --npu-beside"),
        (["--npu-transport=post"], "*argument --npu-transport: invalid choice: 'post' *"),
    ],
)
def test_what_is_wrong_with_an_option_names_it_as_it_was_typed(run: Run, typed: list[str], told: str) -> None:
    result = run(PING, *typed)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
    assert "nothing passed" not in result.stdout.str()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DocumentError("--inference-tool", "", "give --inference-tool-uid"), "--npu-inference-tool: give --npu-inf*"),
        (LoadError("--reset-command: no command ./on--off"), "--npu-reset-command: no command ./on--off"),
        (LoadError("plug-in exec:a --log b: no file"), "plug-in exec:a --log b: no file"),  # of the driver, not ours
    ],
)
def test_options_of_pytest_are_named_where_the_suite_means_its_own(error: DocumentError | LoadError, told: str) -> None:
    assert fnmatch(str(usage_error(error)), told)
