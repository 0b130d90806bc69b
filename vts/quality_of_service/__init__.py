"""Quality of service: deadlines, priorities, what a device answers when there is too little time or room, and load.

A deadline is a permission: a device may ignore it, abort, or be late. What it may not do is invent one, call an aborted
execution a success, or answer with another status than the interface has for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from npu_conformance.harness.run.cases import Case

_MODULES = ("vectors", "deadlines", "shortages", "load")


def cases() -> Iterator[Case]:
    """Deadlines of a model with each operation, and the behaviours."""
    for name in _MODULES:
        yield from importlib.import_module(f"{__name__}.{name}").cases()
