"""`run --scheduler`: the verdicts of a run on a Dask cluster, and what a worker that dies costs."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from dask_clusters import local_cluster, needs_dask

from npu_conformance.cli.main import main
from npu_conformance.harness.run import commands, workers
from npu_conformance.harness.run.commands import Ended
from npu_conformance.harness.run.workers import Workers

SELECTED = ("vts.queries", "vts.generated.RELU.float32_rank1*")


def run(report: Path, *arguments: str) -> int:
    plugin = ("--plugin", "reference", "--isolation", "inprocess")
    return main(("run", *SELECTED, *plugin, "-q", "--report", str(report), *arguments))


def outcomes(report: Path) -> dict[str, str]:
    lines = [json.loads(line) for line in (report / "events.jsonl").read_text().splitlines()]
    results = [line["result"] for line in lines if line["event"] == "case-finished"]
    assert len({result["case"] for result in results if result["outcome"] != "not-run"}) == sum(
        result["outcome"] != "not-run" for result in results
    )
    return {result["case"]: result["outcome"] for result in results}


@pytest.fixture(autouse=True)
def _few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts for each job: the fewest of which one can be lost and another not."""
    monkeypatch.setattr(workers, "PARTS_A_JOB", 2)


@needs_dask
def test_a_cluster_gives_the_verdicts_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    assert run(one) == 0
    with local_cluster(monkeypatch, workers=1, threads=1) as machines:
        assert run(many, "--scheduler", machines.scheduler_address) == 0
    assert outcomes(many) == outcomes(one)
    assert sorted(path.name for path in many.iterdir()) == sorted(path.name for path in one.iterdir())


def test_a_worker_that_dies_costs_its_part_and_resume_makes_it_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = commands.run
    lost: list[tuple[str, ...]] = []

    def first_dies(words: tuple[str, ...], stop: threading.Event | None, files: Mapping[str, bytes]) -> Ended:
        if not lost:
            lost.append(words)
            raise ConnectionError("the worker died")
        return whole(words, stop, files)

    @contextmanager
    def cluster(scheduler: str, jobs: int | None) -> Iterator[Workers]:
        with ThreadPoolExecutor(1) as executor:
            yield Workers(executor, 1)

    monkeypatch.setattr(commands, "run", first_dies)
    monkeypatch.setattr(workers, "cluster", cluster)
    report = tmp_path / "report"
    assert run(report, "--scheduler", "tcp://scheduler") == 3
    assert "shard 1: ConnectionError: the worker died" in capsys.readouterr().err
    found = outcomes(report)
    not_run = {case for case, outcome in found.items() if outcome == "not-run"}
    assert 0 < len(not_run) < len(found)
    assert run(report, "--scheduler", "tcp://scheduler", "--resume") == 0
    assert outcomes(report).keys() == found.keys()
    assert "not-run" not in outcomes(report).values()


@pytest.mark.parametrize("flag", ["--shard", "--trace", "--log", "--wire-log"])
def test_what_a_cluster_cannot_do_is_one_line(flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "report", "--scheduler", "tcp://scheduler", flag, "1/2") == 2
    assert capsys.readouterr().err == f"npu-conformance: {flag}: not with --scheduler\n"


@needs_dask
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense", "ValueError: missing port number in address 'nonsense'"),
        ("http://scheduler:1", "ValueError: unknown address scheme 'http'"),
        ("tcp://scheduler:one", "ValueError: invalid literal for int() with base 10: 'one'"),
    ],
)
def test_a_wrong_address_is_one_line_before_anything_is_asked(
    address: str, reason: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "report", "--scheduler", address) == 2
    gc.collect()  # of a client that was made in vain dask speaks when it is deleted
    told = capfd.readouterr().err
    assert told.startswith(f"npu-conformance: --scheduler {address}: {reason}")
    assert told.count("\n") == 1
