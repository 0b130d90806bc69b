"""Memory domains: buffers that the device manages, their roles, states, shapes and owners.

Device.allocate is optional: a device that declines has these cases not applicable, except for
those whose call it has to reject anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
