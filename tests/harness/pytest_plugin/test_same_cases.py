"""pytest takes the cases that the command takes, whichever way they are chosen, and from whichever installation."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import pytest
import warm_python
from places import ROOT

from npu_conformance.harness.pytest_plugin import adapter
from npu_conformance.harness.run import partition, selection
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.selection import Wanted

pytest_plugins = ("pytester",)
assert adapter, numpy  # pytester forgets what is imported only inside a run: these cannot be imported twice

COLLECT = ("--npu-plugin=reference", "--collect-only", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")
RELU6 = "vts.generated.RELU6.float32_rank1"
SUITES = [str(ROOT / suite) for suite in ("vts", "cts", "fuzz", "mlts")]
VTS = SUITES[0]


def _ids(lines: Sequence[str]) -> list[str]:
    return [line.partition("::")[2] for line in lines if "::" in line]


@pytest.fixture
def collected(pytester: pytest.Pytester) -> Callable[..., list[str]]:
    """The ids that pytest collects."""

    def collect(*arguments: str) -> list[str]:
        result = pytester.runpytest_inprocess(*COLLECT, *arguments)
        assert result.ret == 0, result.stdout.str()
        return _ids(result.outlines)

    return collect


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([*SUITES, "--npu-scope=smoke"], Wanted(scope=Scope.SMOKE)),
        (["vts.queries", "vts.burst", "--npu-scope=full"], Wanted(("vts.queries", "vts.burst"), scope=Scope.FULL)),
        (["vts.queries", "--npu-hal=1.2", "--npu-option=profile=aosp"], Wanted(("vts.queries",))),
        (["--pyargs", "npu_conformance.vts", "-k", "RELU6 and not relaxed"], Wanted(("vts",), "RELU6 and not relaxed")),
        ([VTS, "-k", "float16,nchw or ping"], Wanted(("vts",), "float16,nchw or ping")),
        # pytest looks at the names of files too.
        (["vts.queries", "-k", "not py"], Wanted(("vts.queries",), "not py")),
        (["vts.queries", "-k", "queries.py"], Wanted(("vts.queries",), "queries.py")),
        ([f"{RELU6}[relaxed]"], Wanted((f"{RELU6}[relaxed]",))),
        (["cts", "mlts"], Wanted(("cts", "mlts"))),
    ],
    ids=["smoke", "full", "version", "words", "comma", "no-file", "no-word-of-a-file", "variation", "suites"],
)
def test_a_selection(collected: Callable[..., list[str]], arguments: list[str], wanted: Wanted) -> None:
    if not (expected := [case.id for case in selection.select(wanted).cases]):
        with pytest.raises(AssertionError, match="no tests"):
            collected(*arguments)
        return
    assert sorted(collected(*arguments)) == sorted(expected)


def test_k_beside_a_test_of_the_vendor(collected: Callable[..., list[str]], pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_own="def test_ping(): pass")
    found = collected(str(pytester.path), "vts.queries", "-k", "ping and not queries.py")
    assert found == ["test_ping", "vts.queries.liveness.ping"]


def test_a_requirement(collected: Callable[..., list[str]]) -> None:
    def of(cases: Sequence[Case]) -> list[str]:
        return [case.id for case in cases if "NNHAL-QUERY-001" in case.requirements]

    marker = "requirement(id='NNHAL-QUERY-001')"
    assert collected("vts.queries", "-m", marker) == of(selection.select(Wanted(("vts.queries",))).cases)


def test_shards(collected: Callable[..., list[str]]) -> None:
    cases = selection.select(Wanted(("vts.queries", "vts.burst"))).cases
    for index, part in enumerate(partition.partition(cases, 2), 1):
        assert collected("vts.queries", "vts.burst", f"--npu-shard={index}/2") == [case.id for case in part]


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ([RELU6], [RELU6]),
        ([RELU6, f"{RELU6}[float16]"], [RELU6, f"{RELU6}[float16]"]),
    ],
    ids=["without", "with"],
)
def test_a_pasted_id_takes_its_own_case_alone(
    collected: Callable[..., list[str]], asked: list[str], taken: list[str]
) -> None:
    nodes = [f"{VTS}/generated.py::{name}" for name in asked]
    assert collected(*nodes) == taken
    assert collected(*asked) == taken


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as a wheel installs it: files, no links, away from the checkout."""
    site = tmp_path_factory.mktemp("project") / ".venv" / "site-packages"
    shutil.copytree(ROOT / "src" / "npu_conformance", site / "npu_conformance")
    return site


def _pytest(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return warm_python.run("-m", "pytest", *COLLECT, *arguments, cwd=folder, env=environment, installed=installed)


@pytest.mark.parametrize("is_inside", [True, False], ids=["in-the-project", "elsewhere"])
def test_node_ids_of_an_installed_package_can_be_pasted_back(installed: Path, tmp_path: Path, is_inside: bool) -> None:
    folder = installed.parents[1] if is_inside else tmp_path
    found = _pytest(installed, folder, "--pyargs", "npu_conformance.vts.queries").stdout.splitlines()
    assert _ids(found) == [case.id for case in selection.select(Wanted(("vts.queries",))).cases]
    node = next(line for line in found if line.endswith("liveness.ping"))
    for form in ([node], ["--pyargs", node]):
        assert _ids(_pytest(installed, folder, *form).stdout.splitlines()) == ["vts.queries.liveness.ping"]


def test_a_checkout_beside_an_installed_package_says_what_to_paste(installed: Path) -> None:
    finished = _pytest(installed, ROOT, "vts/queries.py::vts.queries.liveness.ping")
    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    hint = "pytest --pyargs npu_conformance.vts.queries::vts.queries.liveness.ping, or pip install -e "
    assert hint in finished.stderr
    form = hint.partition("pytest ")[2].partition(",")[0].split()
    assert _ids(_pytest(installed, ROOT, *form).stdout.splitlines()) == ["vts.queries.liveness.ping"]


def test_the_folder_of_the_checkout_has_each_case_once() -> None:
    words = ("-m", "pytest", *COLLECT, ".", "-k", "liveness.ping", "--ignore=tests")
    finished = warm_python.run(*words, cwd=ROOT)
    assert [line for line in finished.stdout.splitlines() if "::" in line] == [
        "vts/queries.py::vts.queries.liveness.ping"
    ]
