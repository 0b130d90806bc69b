"""Quality of service: deadlines, priorities, what a device answers when there is too little time or room, and load.

A deadline is a permission: a device may ignore it, abort, or be late. What it may not do is invent one, call an aborted
execution a success, or answer with another status than the interface has for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
