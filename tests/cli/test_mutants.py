"""`faults --mutants --scheduler`: parts of a sample are commands, and one run is made of what they record."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import pytest

from npu_conformance.cli.main import main
from npu_conformance.faults.mutants import tracing
from npu_conformance.faults.mutants.mutation_runner import MutationRun, Sample, Verdict, joined, run_mutants
from npu_conformance.harness.run import commands, workers
from npu_conformance.harness.run.commands import Ended
from npu_conformance.harness.run.workers import Workers

VERDICTS = tuple(Verdict("reference.device.kernels.relu", line, "x -> y", "killed", "vts.a") for line in range(5))


def run_of(*verdicts: Verdict) -> MutationRun:
    return MutationRun(population=9, seed=7, verdicts=verdicts, seconds=1.0)


def test_shards_make_one_run_in_the_order_of_the_sample() -> None:
    whole = joined({1: run_of(*VERDICTS[0::2]), 2: run_of(*VERDICTS[1::2])}, 2)
    assert whole.verdicts == VERDICTS
    assert (whole.population, whole.seed, whole.judged, whole.count("killed")) == (9, 7, 5, 5)


def test_a_lost_shard_is_missing_and_no_more() -> None:
    assert joined({2: run_of(*VERDICTS[1::2])}, 2).verdicts == VERDICTS[1::2]
    assert joined({}, 2).verdicts == ()


class Cluster:
    """Two places at once, which answer as parts do. dies: the number of the part that is lost."""

    def __init__(self, dies: str = "") -> None:
        self.asked: list[tuple[str, ...]] = []
        self._dies = dies

    def run(
        self, words: tuple[str, ...], stop: threading.Event | None = None, files: Mapping[str, bytes] | None = None
    ) -> Ended:
        self.asked.append(words)
        shard = words[words.index("--shard") + 1]
        if shard == self._dies:
            raise ConnectionError("the worker died")
        number, count = map(int, shard.split("/"))
        found = run_of(*VERDICTS[number - 1 :: count])
        return Ended(0, "", {"mutants.json": msgspec.json.encode(found)})

    @contextmanager
    def workers(self, scheduler: str, jobs: int | None) -> Iterator[Workers]:
        with ThreadPoolExecutor(2) as executor:
            yield Workers(executor, jobs or 2)


def mutants(monkeypatch: pytest.MonkeyPatch, cluster: Cluster, *more: str) -> int:
    monkeypatch.setattr(commands, "run", cluster.run)
    monkeypatch.setattr(workers, "cluster", cluster.workers)
    return main(["faults", "--mutants", "5", "--operation", "relu", "--seed", "7", "--scheduler", "tcp://s", *more])


def test_a_cluster_runs_every_mutant_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster()
    assert mutants(monkeypatch, cluster, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [verdict["line"] for verdict in found["verdicts"]] == [0, 1, 2, 3, 4]
    assert sorted(words[words.index("--shard") + 1] for words in cluster.asked) == ["1/2", "2/2"]
    for words in cluster.asked:
        assert words[:3] == ("faults", "--mutants", "5")
        assert dict(zip(words[3::2], words[4::2], strict=True)) | {"--shard": ""} == {
            "--seed": "7",
            "-n": "1",
            "--shard": "",
            "--record": f"{commands.FOLDER}/mutants.json",
            "--operation": "relu",
        }


def test_a_worker_that_dies_is_said_and_fails_the_survey(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mutants(monkeypatch, Cluster(dies="2/2")) == 3
    out = capsys.readouterr().out
    assert "part 2 of 2 is lost: ConnectionError: the worker died" in out
    assert "3 of 3 mutants killed" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--scheduler", "tcp://s"), "--scheduler: only with --mutants"),
        (("-n", "0"), "-n: expected a positive number, found 0"),
        (("--mutants", "1", "-n", "0"), "-n: expected a positive number, found 0"),
    ],
)
def test_bad_command_lines_are_one_line(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["faults", *words]) == 2
    assert capsys.readouterr().err == f"npu-conformance: {message}\n"


def test_a_shard_is_a_part_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "reached", lambda cases, names, at_once, tell: tracing.Reached({}, frozenset()))
    samples = (Sample(5, 7, "CONV_2D", shard=one) for one in ((1, 1), (1, 2), (2, 2)))
    whole, *shards = (run_mutants([], sample, lambda _: None) for sample in samples)
    assert [len(shard.verdicts) for shard in shards] == [3, 2]
    assert joined(dict(enumerate(shards, 1)), 2).verdicts == whole.verdicts
