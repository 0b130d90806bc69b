"""Rounds on a Dask cluster: the same campaign, and a worker that is killed costs its round at most."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from places import HOSTILE

from npu_conformance.fuzz.lib.campaign import executors
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Settings
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.fuzz.lib.campaign.shares import Arm
from npu_conformance.harness.subject.plugin_loading import LoadError

DRIVERS = "fuzzed_drivers:plugin"


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
def test_a_worker_that_is_killed_does_not_end_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed: Any = importlib.import_module("distributed")

    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE), prepend=os.pathsep)
    folder = CampaignFolder(tmp_path, Settings(format=1, plugin=DRIVERS, options={}, hal=None))
    job = RoundJob(fuzzer="", plugin=DRIVERS, options={}, hal=None, engine="evolution", seed=0)
    rounds_before: list[int] = []

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as machines,
        distributed.Client(machines.scheduler_address, set_as_default=False) as client,
        executors.cluster(machines.scheduler_address, None) as workers,
    ):

        def kill(campaign: Campaign) -> None:
            if campaign.rounds and not rounds_before:
                rounds_before.append(len(campaign.rounds))
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        running = Campaign(folder, job, [Arm("wire", "evolution")], Limits(8.0, None), workers, kill)
        assert workers.jobs == 2
        running.run()
    folder.close()
    assert rounds_before
    assert len(running.rounds) > rounds_before[0]
    assert len(running.lost) <= 1
    assert sum(line.executions for line in running.rounds[rounds_before[0] :]) > 0


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.2)
    with (
        pytest.raises(LoadError, match=r"--scheduler tcp://127.0.0.1:1: \w+: "),
        executors.cluster("tcp://127.0.0.1:1", None),
    ):
        pass


def test_dask_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LoadError, match="Dask is not installed"), executors.cluster("tcp://127.0.0.1:1", None):
        pass
