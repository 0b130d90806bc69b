"""The load beside which inferences are measured: a thread of its own, which may die."""

from __future__ import annotations

import pytest

from npu_conformance.mlts.lib import latency
from npu_conformance.mlts.lib.reports import Plan, Work
from npu_conformance.specs.versions import NEWEST

PLAN = Plan(address="", tickets=("own", "load"), transports=(), version=NEWEST, models=(), rounds=1, work=Work.LATENCY)


def test_a_load_that_dies_before_it_is_needed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """To wait for it would be to wait for ever."""

    def refused(plan: Plan, ticket: str) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr(latency, "connected", refused)
    compiling = latency._Compiling(PLAN)
    compiling._thread.join()
    with pytest.raises(ConnectionError, match="refused"):
        compiling.go_on()
    compiling.close()
