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
    group.addoption(
        "--npu-option", metavar="NAME=VALUE", action="append", default=[], help="option of the plug-in; repeatable"
    )
    group.addoption("--npu-hal", metavar="VERSION", help="HAL version to test as: 1.0 1.1 1.2 1.3 fl5 fl6 fl7 fl8")
    group.addoption(
        "--npu-isolation", choices=("process", "inprocess"), default="process", help="where a Python plug-in runs"
    )
    group.addoption(
        "--npu-transport",
        metavar="KIND",
        action="append",
        default=[],
        choices=("path", "descriptor", "message"),
        help="pass memory only by KIND (path, descriptor, message); repeatable, default all",
    )
    group.addoption(
        "--npu-inference-tool",
        metavar="COMMAND",
        help="command that runs test inferences, with {uid} in it (docs/npu-scheduling.md)",
    )
    group.addoption("--npu-inference-tool-uid", metavar="UID", type=int, help="the uid that the command always runs as")
    group.addoption(
        "--npu-reset-command", metavar="COMMAND", help="command that brings the device back after a crash or a hang"
    )
    group.addoption("--npu-reset-seconds", metavar="SECONDS", type=float, help="how long that may take (default: 120)")
    group.addoption(
        "--npu-longest-wait",
        metavar="SECONDS",
        type=float,
        help="never wait longer than SECONDS for an answer or an import",
    )
    group.addoption(
        "--npu-patience",
        metavar="FACTOR",
        type=float,
        default=1.0,
        help="multiply all timeouts by FACTOR, for a driver stopped in a debugger",
    )
    group.addoption(
        "--npu-beside", metavar="P", help="also measure this plug-in, and judge accuracy against it, for example litert"
    )
    group.addoption(
        "--npu-beside-option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="option of the --npu-beside plug-in; repeatable",
    )
    group.addoption("--npu-scope", choices=("smoke", "default", "full"), default="default", help="how much to run")
    group.addoption(
        "--npu-time-scale",
        metavar="FACTOR",
        type=float,
        default=1.0,
        help="run stress cases FACTOR times as long as usual",
    )
    group.addoption(
        "--npu-vectors",
        metavar="PATH",
        action="append",
        default=[],
        help="external vectors to run with the stored ones; repeatable",
    )
    group.addoption(
        "--npu-catalogue", metavar="DIR", action="append", default=[], help="catalogue of a vendor's own extension"
    )
    group.addoption(
        "--npu-waivers",
        metavar="FILE",
        action="append",
        default=[],
        help="known failures: reason, owner, link, expiry; repeatable",
    )
    group.addoption(
        "--npu-report", metavar="DIR", help="report folder (default: a new one in .npu-conformance/<plug-in>)"
    )
    group.addoption(
        "--npu-keep",
        metavar="N",
        type=int,
        default=20,
        help="keep the newest N reports of the same whole suites and scope, and the newest N of anything less, "
        "including this one (default: 20)",
    )
    group.addoption("--npu-wire-log", metavar="FILE", help="write every message to and from the plug-in, one line each")
    group.addoption(
        "--npu-baseline", metavar="DIR", help="an earlier report folder or results.json: only regressions are red"
    )
    group.addoption(
        "--npu-require-conformant",
        action="store_true",
        help="fail unless the run shows that the subject conforms",
    )
    group.addoption("--npu-shard", metavar="I/N", default="", help="run the I-th of N parts of the selection")
    group.addoption(
        "--npu-budget", metavar="TIME", help="stop after 90s, 15m or 2h; the most worthwhile cases run first"
    )
    group.addoption(
        "--npu-resume",
        action="store_true",
        help="continue the latest run of the plug-in, or the run in --npu-report DIR",
    )
    group.addoption("--npu-shuffle", action="store_true", help="run in an order that follows from --npu-seed")
    group.addoption("--npu-trace", metavar="FILE", help="write where the time goes, for Perfetto or chrome://tracing")
    group.addoption(
        "--npu-log", metavar="FILE", help="file for the log lines that NPU_VLOG turns on (docs/diagnostics.md)"
    )
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
