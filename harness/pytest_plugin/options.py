"""pytest options of the suites, and what their fixtures say without them.

Loaded in every pytest run where the package is installed: nothing else lives here.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

_SUITES = ("vts", "cts", "fuzz", "mlts")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; the suites do nothing without --npu-plugin."""
    group = parser.getgroup("npu-conformance", "conformance of NPU drivers and managers")
    group.addoption(
        "--npu-plugin",
        metavar="P",
        help="implementation under test: entry point, module:name, PATH.so, unix:, tcp:, exec:, stacked:P, shim:P",
    )
    group.addoption("--npu-option", metavar="NAME=VALUE", action="append", default=[], help="option of the plug-in")
    group.addoption("--npu-hal", metavar="VERSION", help="test this HAL version instead of the one the plug-in states")
    group.addoption(
        "--npu-isolation", choices=("process", "inprocess"), default="process", help="where the plug-in runs"
    )
    group.addoption(
        "--npu-transport",
        metavar="KIND",
        action="append",
        default=[],
        help="allow memory by: path, descriptor, message",
    )
    group.addoption(
        "--npu-inference-tool", metavar="COMMAND", help="command that runs test inferences, with {uid} in it"
    )
    group.addoption("--npu-inference-tool-uid", metavar="UID", type=int, help="the uid that the command always runs as")
    group.addoption("--npu-reset-command", metavar="COMMAND", help="brings the device back behind a crash or a hang")
    group.addoption("--npu-reset-seconds", metavar="SECONDS", type=float, help="how long that may take (default: 120)")
    group.addoption("--npu-longest-wait", metavar="SECONDS", type=float, help="wait at most so long for an answer")
    group.addoption("--npu-patience", metavar="FACTOR", type=float, default=1.0, help="wait so many times as long")
    group.addoption("--npu-beside", metavar="P", help="measure this plug-in, too, and judge accuracy against it")
    group.addoption(
        "--npu-beside-option", metavar="NAME=VALUE", action="append", default=[], help="option of that plug-in"
    )
    group.addoption("--npu-scope", choices=("smoke", "default", "full"), default="default", help="how much to run")
    group.addoption("--npu-time-scale", metavar="FACTOR", type=float, default=1.0, help="how long stress cases work")
    group.addoption(
        "--npu-vectors", metavar="PATH", action="append", default=[], help="external vectors beside the stored ones"
    )
    group.addoption(
        "--npu-catalogue", metavar="DIR", action="append", default=[], help="catalogue of a vendor's own extension"
    )
    group.addoption(
        "--npu-waivers",
        metavar="FILE",
        action="append",
        default=[],
        help="known failures with reason, owner and expiry",
    )
    group.addoption(
        "--npu-report", metavar="DIR", help="report folder (default: a new one in .npu-conformance/<plug-in>)"
    )
    group.addoption("--npu-keep", metavar="N", type=int, default=20, help="how many reports of a plug-in are kept")
    group.addoption("--npu-wire-log", metavar="FILE", help="write every message to and from the plug-in, a line each")
    group.addoption("--npu-baseline", metavar="DIR", help="an earlier report: only regressions are red")
    group.addoption(
        "--npu-require-conformant",
        action="store_true",
        help="fail where the run does not show conformance",
    )
    group.addoption("--npu-shard", metavar="I/N", default="", help="run the I-th of N parts of the selected cases")
    group.addoption("--npu-budget", metavar="TIME", help="stop after 90s, 15m or 2h, the most worthwhile cases first")
    group.addoption("--npu-resume", action="store_true", help="go on with the run that the report folder holds")
    group.addoption("--npu-shuffle", action="store_true", help="run in an order that follows from --npu-seed")
    group.addoption("--npu-trace", metavar="FILE", help="write where time goes, for Perfetto or chrome://tracing")
    group.addoption("--npu-log", metavar="FILE", help="file for the lines that NPU_VLOG asks for (docs/diagnostics.md)")
    group.addoption(
        "--npu-seed", metavar="N", type=int, default=0, help="seed of the run; printed, and enough to repeat it"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the adapter in runs that ask for it, and only there. UsageError where a suite is to run on nothing."""
    if config.getoption("--npu-plugin"):
        from npu_conformance.harness.systems import refusal

        if refusal():
            raise pytest.UsageError(refusal())
        config.pluginmanager.import_plugin("npu_conformance.harness.pytest_plugin.adapter")
        return
    for word in config.args:
        if _is_of_a_suite(word.partition("::")[0]):
            raise pytest.UsageError(f"{word}: give --npu-plugin=P, the implementation under test")


@pytest.fixture
def npu_subject() -> NoReturn:
    """Say what is missing; the adapter, which is loaded later, has the fixture itself."""
    pytest.fail("npu_subject: give --npu-plugin=P, the implementation under test", pytrace=False)


@pytest.fixture
def npu_device(npu_subject: object) -> object:
    """As npu_subject."""
    return npu_subject


def _is_of_a_suite(word: str) -> bool:
    """True for a folder or a module of a suite, and for the id of cases, such as vts.generated.ADD."""
    if word.partition(".")[0] in _SUITES and not Path(word).exists():
        return True
    package = Path(__file__).resolve().parents[2]
    is_module = word.startswith(f"{__name__.partition('.')[0]}.")
    path = package.joinpath(*word.split(".")[1:]) if is_module else Path(word).resolve()
    return any(path.is_relative_to(package / suite) for suite in _SUITES)
