"""An app whose runtime has one driver, which computes all that the random calls make."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.nnapi.machine_told import TIMES
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall, Misbehaviour
from npu_conformance.specs.versions import HIDL_LAST, Version

_NAME = "one"


class DriverApp(ScriptedApp):
    """version: of the driver, which is what the app names where others name the CPU. failure: of the driver."""

    def __init__(self, context: CaseContext, version: Version, failure: Misbehaviour | None = None) -> None:
        script = driver(_NAME, hal=version, exec_time=FAST, power_usage=FAST, timing=TIMES)
        super().__init__(context, replace(script, misbehaviours=() if failure is None else (failure,)))
        self.version = version if self.level.is_aidl else min(version, HIDL_LAST)
        self._seen = 0

    def cpu(self) -> int:
        """The driver."""
        return self.named(_NAME)[0]

    def new_calls(self) -> tuple[DriverCall, ...]:
        """What the driver was asked since this was asked last."""
        calls = self.control.driver_calls(_NAME)
        new, self._seen = calls[self._seen :], len(calls)
        return new
