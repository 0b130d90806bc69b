"""Drivers that fail the questions at start: they are not offered, and the others are."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver, failing
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.registration", interface="runtime", since=Version.V1_2)

_QUERIES = {
    "get_capabilities": Version.V1_0,
    "get_version_string": Version.V1_2,
    "get_type": Version.V1_2,
    "get_supported_extensions": Version.V1_2,
    "get_number_of_cache_files_needed": Version.V1_2,
}
_STATUSES = (ErrorStatus.GENERAL_FAILURE, ErrorStatus.DEVICE_UNAVAILABLE)


def _declare(query: str, since: Version) -> None:
    @cases.case(query, "FW-DEV-003", *(("FW-CAC-001",) if "cache" in query else ()))
    def failing_query(context: CaseContext) -> None:
        """A driver that answers a question at start with an error is not offered; those around it are."""
        for hal in Version:
            if hal < since:
                continue
            for status in _STATUSES:
                broken = driver("broken", hal=hal, **failing(query, status))
                app = ScriptedApp(context, driver("first"), broken, driver("last"))
                what = f"devices, where {query} fails on a driver of {hal}"
                checks.equal(sorted(app.names()), sorted(["first", "last", CPU]), what)
                app.close()


for _query, _since in _QUERIES.items():
    _declare(_query, _since)


@cases.case("nothing_prepared", "FW-DEV-003")
def nothing_prepared(context: CaseContext) -> None:
    """A driver that is not offered is never asked about a model."""
    app = ScriptedApp(context, driver("broken", exec_time=0.1, **failing("get_capabilities")))
    app.computes_rightly(app.compiled(add()))
    for method in ("get_supported_operations", "prepare_model"):
        checks.equal(app.calls("broken", method), [], f"calls of {method} of a driver that is not offered")
