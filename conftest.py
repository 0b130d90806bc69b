"""pytest in the checkout: says how to start the suites where a run collects them without naming a plug-in."""

from pathlib import Path

import pytest

SUITES = {"vts", "cts", "mlts"}


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> None:
    """Refuse a run of a suite that would silently collect nothing."""
    if file_path.parent.name in SUITES and not parent.config.getoption("--npu-plugin"):
        raise pytest.UsageError(f"{file_path.parent.name}/ needs a plug-in: pytest --npu-plugin=reference vts")
