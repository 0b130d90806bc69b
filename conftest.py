"""pytest in the checkout: says how to start the suites where the package that is installed is another one."""

import importlib.util
from pathlib import Path

import pytest

SUITES = ("vts", "cts", "fuzz", "mlts")
HERE = Path(__file__).parent

collect_ignore = ["src"]  # the import package: each folder once more, behind a link


def pytest_collection(session: pytest.Session) -> None:
    """Refuse a run of a suite that would silently collect nothing."""
    for argument in session.config.args:
        word, separator, case = argument.partition("::")
        path = Path(session.config.invocation_params.dir, word).resolve()
        suite = next((suite for suite in SUITES if path.is_relative_to(HERE / suite)), None)
        if suite is None:
            continue
        if (installed := _installed(suite)) != HERE / suite:
            module = ".".join(("npu_conformance", *path.relative_to(HERE).with_suffix("").parts))
            raise pytest.UsageError(
                f"{argument}: the npu-conformance that is installed is another, in {installed.parent}: "
                f"pytest --pyargs {module.removesuffix('.__init__')}{separator}{case}, or pip install -e {HERE}"
            )


def _installed(suite: str) -> Path:
    """The folder of a suite of the package that is installed."""
    spec = importlib.util.find_spec(f"npu_conformance.{suite}")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).resolve().parent
