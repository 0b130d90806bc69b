"""`python -m benchmarks.plot_manager FILE.svg`: draw how the cost of the manager's decisions grows with the apps."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from benchmarks.bench_manager import seconds_a_step
from npu_conformance.simulation.plots import Axis, Series, lines

_APPS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def plot() -> str:
    """The measured cost by the number of apps beside their logarithm, both as multiples of those of 10 apps; SVG."""
    cost = {apps: seconds_a_step(apps) for apps in _APPS}
    measured = [(float(apps), seconds / cost[10]) for apps, seconds in cost.items()]
    logarithm = [(float(apps), math.log10(apps)) for apps in _APPS]
    return lines(
        [Series("logarithm", logarithm), Series("measured", measured)],
        Axis("apps, each with a live request", 10),
        Axis("four events of one app, times those of 10 apps"),
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.plot_manager FILE.svg")
    Path(sys.argv[1]).write_text(f"{plot()}\n<!-- by python -m benchmarks.plot_manager -->\n")
