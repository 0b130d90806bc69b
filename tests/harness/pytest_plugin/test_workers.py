"""pytest -n: workers of pytest-xdist, each with a subject of its own, and one report as without them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from npu_conformance.harness.pytest_plugin.workers import Controller
from npu_conformance.specs.documents.results import FAILURE_FILE, NOT_WRITTEN, CaseResult
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from npu_conformance.harness.pytest_plugin.reporting import Explainer
    from npu_conformance.harness.run.session import Session

pytest.importorskip("xdist")
pytest_plugins = ("pytester",)

# The fixture of conftest.py: Run is its type.
Run = Any
PING, AVAILABLE = "vts.queries.liveness.ping", "vts.queries.status.available"
SOME = ("vts.queries", "vts.validation", "-k", "queries or RELU6 and remove")

DYING = """
import os
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Plugin, Subject
from npu_conformance.specs.versions import Version
from vendor_plugins import FirstDay

class Dying(FirstDay):
    def get_status(self):
        os._exit(7)

manifest = Manifest(name="dying", vendor="tests", version="1", hal_version=Version.V1_0)
plugin = Plugin(manifest, lambda context: Subject(device=Dying()))
"""


def _results(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return read


def _told(folder: Path) -> tuple[object, ...]:
    """What a report says, whoever ran its cases."""
    read = _results(folder)
    cases = sorted((case["case"], case["outcome"], case.get("message", "")) for case in read["cases"])
    failures = sorted(file.name for file in (folder / "failures").iterdir())
    return cases, failures, read["counts"], read["exit_code"], sorted(read["reasons"]), read["selection"]


def test_one_report_as_without_workers(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_queries(npu_subject): assert npu_subject.manifest.name == 'first-day'")
    runs = {count: run(".", *SOME, "-n", count, f"--npu-report={count}", "-o", "addopts=") for count in ("0", "2")}
    for result in runs.values():
        assert result.ret == 1
        result.stdout.fnmatch_lines(
            ["*npu-conformance: symptoms*", "FAIL RELU6 *", "  npu-conformance replay */failures/*"]
        )
        result.assert_outcomes(passed=8, skipped=11, failed=4)
    assert _told(pytester.path / "0") == _told(pytester.path / "2")
    events = (pytester.path / "2" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in (events[0], events[-1])] == ["run-started", "run-finished"]


@pytest.mark.parametrize(
    ("isolation", "outcome", "line"),
    [("process", "crash", "CRASH*"), ("inprocess", "suite-error", "*worker 'gw*' crashed while running *")],
)
def test_a_crash(run: Run, pytester: pytest.Pytester, isolation: str, outcome: str, line: str) -> None:
    pytester.makepyfile(dying_plugin=DYING)
    pytester.syspathinsert()
    words = (PING, AVAILABLE, "-n", "1", f"--npu-isolation={isolation}", "--npu-report=report")
    result = run(*words, plugin="--npu-plugin=dying_plugin:plugin")
    assert result.ret == 1
    result.stdout.fnmatch_lines([line])
    assert {case["case"]: case["outcome"] for case in _results(pytester.path / "report")["cases"]}[AVAILABLE] == outcome


def test_the_rest_is_not_run_after_x(run: Run, pytester: pytest.Pytester) -> None:
    result = run("vts.validation", "-k", "RELU6 and remove", "-x", "-n", "1", "--npu-report=report")
    assert result.ret != 0
    counts = _results(pytester.path / "report")["counts"]
    assert counts["fail"] >= 1
    assert counts["not-run"] >= 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--npu-plugin=vendor_plugins:nothing"], "ERROR: *vendor_plugins has no nothing*"),
        (["--npu-plugin=reference", "--npu-resume"], "ERROR: --npu-resume works with one process only: *"),
        (["--npu-plugin=reference", "--dist=each"], "ERROR: --dist=each would run each case several times: *"),
    ],
    ids=["plugin", "resume", "each"],
)
def test_bad_options_are_one_line(run: Run, arguments: list[str], line: str) -> None:
    result = run(PING, "-n", "1", *arguments, plugin="")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_a_failure_file_that_somebody_has_spoilt_is_told_as_one_that_is_not_written(tmp_path: Path) -> None:
    session = SimpleNamespace(folder=tmp_path, options=SimpleNamespace(plugin_words="--plugin p"))
    controller = Controller(cast("Session", session), cast("Explainer", None))
    spoilt = controller._part("gw0") / "failures" / "case.json"
    spoilt.parent.mkdir(parents=True)
    spoilt.write_text("spoilt")
    outcome = Outcome.FAIL
    result = CaseResult(case=PING, outcome=outcome, own_outcome=outcome, notes={FAILURE_FILE: spoilt.name})
    controller._fetch_failure(result, "gw0")
    assert str(result.notes[FAILURE_FILE]).startswith(f"{NOT_WRITTEN}{spoilt}: not JSON")
    controller.pytest_unconfigure()
