"""Opens the driver below the runtime, which may have to come back first."""

from __future__ import annotations

import time
from collections.abc import Mapping

from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import SHIM, LoadError
from npu_conformance.specs.manifest import Deadlines

_STARTED_ELSEWHERE = ("unix:", "tcp:")
_SECONDS = 0.8 * Deadlines().start
"""How long a driver may be away: less than the harness waits for the runtime, so that the reason can be told."""
_LOOK_AGAIN_SECONDS = 0.1


def reached(spec: str, options: Mapping[str, str]) -> SubjectHandle:
    """Open the driver. One that somebody else starts is waited for, as where it is tested by itself: it was there when
    it was asked for its manifest. Raises LoadError.
    """
    is_started_elsewhere = spec.removeprefix(SHIM).startswith(_STARTED_ELSEWHERE)
    last = time.monotonic() + _SECONDS
    while True:
        try:
            return open_subject(spec, options)
        except LoadError:
            if not is_started_elsewhere or time.monotonic() >= last:
                raise
        time.sleep(_LOOK_AGAIN_SECONDS)
