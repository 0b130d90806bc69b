"""What a row of the catalogue of hostile kinds says."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from npu_conformance.specs.neuralnetworks.hal import PreparedModelCallback

FOREVER = 3600.0
SOON = 0.5
"""Seconds that the harness waits for a kind that never answers."""
START = 1.0
"""The same, for one that hangs while it comes up: its process has to import something first."""
LATER = 1.5
"""The same, for a kind that has to get somewhere before that, on a busy machine too."""

Verdict = Literal["pass", "fail", "crash", "hang", "refused"]
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "crash": 1, "hang": 1, "refused": 2}
"""Of a run with this verdict on one case, the others being green. refused: no case runs."""


@dataclass
class Call:
    """The call in which a kind acts. file: the token of a cache file. silent: set where no callback is to be made."""

    callback: PreparedModelCallback
    file: int
    context: Any
    silent: bool = False


@dataclass(frozen=True)
class Kind:
    """One way to do harm.

    name: its id. does: in words. verdict: of the guilty case, whose one line contains `says`. act: what the driver
    does. seconds: how long the harness waits for it. transport: how memory travels. apart: it could hurt others on
    the machine, and runs in name spaces of its own or not at all. after: the verdict of the next case, which is its own
    but where nothing keeps a driver that lives on from using up what there is.
    """

    name: str
    does: str
    verdict: Verdict
    says: str
    act: Callable[[Call], object]
    seconds: float = FOREVER
    transport: str = "path"
    apart: bool = False
    after: Verdict = "pass"

    @property
    def exit_code(self) -> int:
        """Expected of a run with this kind in it."""
        return max(EXIT_CODES[self.verdict], EXIT_CODES[self.after])


@dataclass(frozen=True)
class Start:
    """One way to come up wrongly, or not at all: it is the verdict of every case.

    told: what a driver in a process of its own is started with. The others as in Kind."""

    name: str
    does: str
    verdict: Verdict
    says: str
    told: dict[str, Any] = field(default_factory=dict)
    seconds: float = FOREVER
    apart: bool = False

    @property
    def exit_code(self) -> int:
        """Expected of a run with this kind in it."""
        return EXIT_CODES[self.verdict]


def sleep() -> NoReturn:
    """Never return."""
    while True:
        time.sleep(FOREVER)
