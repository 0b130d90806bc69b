"""pytest in the checkout: says how to start the suites where a run names one without naming a plug-in."""

from pathlib import Path

import pytest

SUITES = ("vts", "cts", "fuzz", "mlts")


def pytest_collection(session: pytest.Session) -> None:
    """Refuse a run of a suite that would silently collect nothing."""
    if session.config.getoption("--npu-plugin"):
        return
    here = Path(__file__).parent
    for argument in session.config.args:
        path = Path(session.config.invocation_params.dir, argument.partition("::")[0]).resolve()
        for suite in SUITES:
            if path.is_relative_to(here / suite):
                raise pytest.UsageError(f"{suite}/ needs a plug-in: pytest --npu-plugin=reference {suite}")
