"""How many cache files a driver may want: 32 of each kind, or it is not offered."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver, failing
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MOST_CACHE_FILES
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.caching.registration", interface="runtime", since=Version.V1_2)

_COUNTS = (0, 1, MOST_CACHE_FILES, MOST_CACHE_FILES + 1)
_STATUSES = (ErrorStatus.NONE, ErrorStatus.DEVICE_UNAVAILABLE)


def _declare(models: int, data: int, status: ErrorStatus) -> None:
    @cases.case(f"files_{models}_{data}.{status.name.lower()}", "FW-CAC-001", "FW-DEV-003")
    def registered(context: CaseContext) -> None:
        """A driver is offered where it wants at most 32 files of each kind, and can say how many."""
        fields = failing("get_number_of_cache_files_needed", status) if status else {}
        script = driver("one", cache_files=NumberOfCacheFiles(models, data), **fields)
        is_good = max(models, data) <= MOST_CACHE_FILES and status == ErrorStatus.NONE
        expected = ["one", "two", CPU] if is_good else ["two", CPU]
        checks.equal(sorted(ScriptedApp(context, script, driver("two")).names()), sorted(expected), "devices")


for _models in _COUNTS:
    for _data in _COUNTS:
        for _status in _STATUSES:
            _declare(_models, _data, _status)
