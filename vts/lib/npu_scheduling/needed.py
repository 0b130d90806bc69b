"""The scheduling HAL as cases call it: a method that it does not have yet leaves them unsupported, and is never red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.specs.errors import NotVisible, Unsupported
from npu_conformance.specs.npu.scheduling import Scheduling


def needed(scheduling: Scheduling) -> Scheduling:
    """The HAL, whose missing methods end a case as NotSupported, whatever the case expects of the call.

    So bring-up begins without red, as that of a driver and of a manager does. The summary names the methods
    (harness.run.missing_methods), and the run is not conformant.
    """
    return cast("Scheduling", _Needed(scheduling))


class _Needed:
    def __init__(self, inner: Scheduling) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._inner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return method(*arguments, **named)
            except NotVisible:
                raise
            except Unsupported as lacking:
                raise NotSupported(str(lacking)) from None

        return call
