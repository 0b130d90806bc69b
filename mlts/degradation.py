"""Performance degradation: how much slower an inference is while another thread prepares models (ML-CRS-009)."""

from __future__ import annotations

from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext

cases = CaseGroup("mlts.degradation.latency", group=Group.EXECUTION)
_MOST = 0.75
"""In so many of the rounds an inference has to be slower before that is the driver's doing."""


@cases.case("while_loading", "ML-CRS-009", "ML-CRS-001")
def while_loading(context: CaseContext) -> None:
    """An inference takes at most half as long again while models are prepared; beyond that is a matter of quality."""
    from npu_conformance.harness.judge import checks
    from npu_conformance.mlts.lib import clients, latency
    from npu_conformance.mlts.lib.loading import run
    from npu_conformance.mlts.lib.reports import Work

    loads = {
        Scope.SMOKE: clients.Load(1, 1, 4),
        Scope.DEFAULT: clients.Load(1, 1, 12),
        Scope.FULL: clients.Load(1, 1, 100, seconds=160.0),
    }
    load, models = clients.load_of(context, loads), clients.supported_models(context)
    plan = clients.ticketed(context, 10_201, models, load, tickets=2, work=Work.LATENCY, crowd=2)
    (end,) = run(context, [plan], models)
    if "ratio" not in end.measured:
        return
    ratio = end.measured["ratio"]
    context.note("slowdown", round(ratio, 2))
    if ratio <= latency.SLOW or end.measured["slow"] < _MOST:
        return
    message = f"an inference takes {ratio:.2f} times as long while models are prepared: expected at most {latency.SLOW}"
    if context.manifest.steady_latency:
        checks.fail(message, f"at most {latency.SLOW}", f"{ratio:.2f}")
    context.warn_quality(message)
