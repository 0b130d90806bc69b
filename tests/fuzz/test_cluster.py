"""Rounds on a Dask cluster: the same campaign, and a worker that is killed costs its round at most."""

from __future__ import annotations

import importlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from dask_clusters import local_cluster, needs_dask

from npu_conformance.fuzz.lib.campaign import campaign as campaigns
from npu_conformance.fuzz.lib.campaign import executors
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Settings
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.fuzz.lib.campaign.shares import Arm

DRIVERS = "fuzzed_drivers:plugin"


@needs_dask
def test_a_worker_that_is_killed_does_not_end_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed: Any = importlib.import_module("distributed")
    folder = CampaignFolder(tmp_path, Settings(format=1, plugin=DRIVERS, options={}, hal=None))
    job = RoundJob(fuzzer="", plugin=DRIVERS, options={}, hal=None, engine="evolution", seed=0)
    rounds_before: list[int] = []
    monkeypatch.setattr(campaigns, "_SHORTEST_ROUND", 0.2)

    def clock() -> float:
        """The time is over with the second round behind the kill."""
        return 60.0 if rounds_before and len(folder.rounds) > rounds_before[0] + 1 else 0.0

    with (
        local_cluster(monkeypatch, workers=2, threads=1) as machines,
        distributed.Client(machines.scheduler_address, set_as_default=False) as client,
        executors.cluster(machines.scheduler_address, None) as workers,
    ):

        def kill(campaign: Campaign) -> None:
            if campaign.rounds and not rounds_before:
                rounds_before.append(len(campaign.rounds))
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        running = Campaign(folder, job, [Arm("wire", "evolution")], Limits(0.4, None), workers, kill, clock)
        assert workers.jobs == 2
        running.run()
    folder.close()
    assert rounds_before
    assert len(running.rounds) > rounds_before[0]
    assert len(running.lost) <= 1
    assert sum(line.executions for line in running.rounds[rounds_before[0] :]) > 0
