"""`npu-conformance graphs`: what it prints, keeps and returns, for drivers that are right and that are not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from dask_clusters import local_cluster, needs_dask
from places import HOSTILE

from npu_conformance.cli.main import main
from npu_conformance.corpus import vectors
from npu_conformance.corpus.importers.aosp import importing
from npu_conformance.harness.judge.outcome_table import USAGE
from npu_conformance.harness.run import commands, failures, workers
from npu_conformance.harness.run.commands import Ended
from npu_conformance.vts.lib import accepted_operations

DRIVER = ("--plugin", "graph_drivers:plugin", "--isolation", "inprocess", "--plugin-option")
SEAM = ("--operations", "ADD", "MUL", "--types", "float32", *DRIVER[:-1])
Graphs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Graphs:
    """Run the command: exit code, what it printed, what it complained of."""
    monkeypatch.syspath_prepend(str(HOSTILE))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(("graphs", "--save", str(tmp_path / "found"), *arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def failing(graphs: Graphs, end: str, *more: str) -> str:
    code, out, _ = graphs(*SEAM, *more, "--plugin-option", f"end={end}", "--seeds", "0:2")
    assert code == 1
    return out


def test_a_right_driver(graphs: Graphs, tmp_path: Path) -> None:
    code, out, _ = graphs("--plugin", "reference", "--seeds", "0:5", "--isolation", "inprocess")
    assert code == 0
    assert "reference, HAL fl8: small graphs, seeds 0:5" in out
    assert "5 graphs of 25 operations" in out
    assert "5 right, 0 not supported, 0 wrong" in out
    assert re.search(r"judged: [\d.]+% of \d+ elements", out)
    assert not (tmp_path / "found").exists()


def test_one_seed_is_not_taken_for_a_number_of_seeds(graphs: Graphs) -> None:
    _, out, _ = graphs("--plugin", "reference", "--seeds", "300", "--isolation", "inprocess", "--size", "single")
    assert "single graphs, seed 300 alone (--seeds 0:300 are 300 seeds)" in out


def test_equal_seeds_are_equal_graphs(graphs: Graphs) -> None:
    arguments = ("--plugin", "reference", "--seeds", "3", "--isolation", "inprocess", "--size", "single")
    first, second = graphs(*arguments), graphs(*arguments)
    assert [line for line in first[1].splitlines() if " s (" not in line] == [
        line for line in second[1].splitlines() if " s (" not in line
    ]


def test_a_wrong_result_is_shrunk_and_kept(graphs: Graphs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = failing(graphs, "miscompute")
    assert re.search(r"FAIL seed \d: shrunk from 5 operations to (ADD|MUL|ADD MUL)$", out, re.MULTILINE)
    (replayed, *_) = sorted((tmp_path / "found").glob("*.json"))
    assert main(("replay", str(replayed), *DRIVER, "end=miscompute")) == 1
    assert main(("replay", str(replayed), *DRIVER, "end=partly")) in (0, 1)
    assert main(("replay", str(replayed), "--plugin", "reference", "--isolation", "inprocess")) == 0
    capsys.readouterr()


def test_findings_are_vectors_and_specifications_too(graphs: Graphs, tmp_path: Path) -> None:
    failing(graphs, "miscompute")
    (specification, *_) = sorted((tmp_path / "found").glob("*.mod.py"))
    assert "# Results from seam" in specification.read_text()
    (loaded,) = importing.load([specification])
    assert loaded.problem is None
    folder = next(path for path in (tmp_path / "found").iterdir() if path.is_dir())
    (operation,) = vectors.operations(folder)
    (header,) = vectors.headers(operation, folder)
    assert vectors.load(operation, header.name, folder).examples


@pytest.mark.parametrize(("end", "verdict"), [("crash", "CRASH"), ("hang", "HANG"), ("refuse", "FAIL")])
def test_a_driver_that_ends_is_a_finding_and_not_the_end(graphs: Graphs, end: str, verdict: str) -> None:
    out = failing(graphs, end, "--isolation", "process")
    assert f"{verdict} seed" in out
    assert (": making the graph smaller\n" in out) is (verdict != "FAIL")  # which takes no time
    assert "2 graphs of 10 operations" in out


def test_a_folder_that_cannot_be_written_is_told_before_the_search(
    graphs: Graphs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert main(["graphs", *SEAM, "--seeds", "0:1", "--save", "found"]) == 2
    assert capsys.readouterr().err == "npu-conformance: --save: found: cannot be written\n"


def test_an_interrupt_is_no_finding(graphs: Graphs, tmp_path: Path) -> None:
    code, out, _ = graphs(*SEAM, "--plugin-option", "end=interrupted", "--seeds", "0:2")
    assert code == 3  # as everywhere: not all that was asked for has run
    assert "\ninterrupted\n1 graph of 5 operations" in out
    assert not (tmp_path / "found").exists()


def test_a_finding_stays_one_where_shrinking_is_interrupted(graphs: Graphs, tmp_path: Path) -> None:
    code, out, _ = graphs(*SEAM, "--plugin-option", "end=shrinking", "--seeds", "0:2")
    assert code == 3
    told = r"^FAIL seed 1: .*\n.*\n  interrupted before it was kept: --seeds 1 makes it again\ninterrupted\n"
    assert re.search(told, out, re.MULTILINE)
    assert "1 wrong" in out
    assert not (tmp_path / "found").exists()


def test_findings_of_one_seed_have_a_name_each(graphs: Graphs, tmp_path: Path) -> None:
    found = [*SEAM, "--plugin-option", "end=miscompute", "--seeds", "1"]
    names = []
    for arguments in (found, found, [*found, "--size", "large"]):
        graphs(*arguments)
        names.append({path.name for path in (tmp_path / "found").glob("*.json")})
    assert len(names[0]) == 1
    assert names[0] == names[1] < names[2]


def test_a_finding_that_cannot_be_kept_is_one_line(graphs: Graphs, tmp_path: Path) -> None:
    (tmp_path / "found").touch()
    code, _, err = graphs(*SEAM, "--plugin-option", "end=miscompute", "--seeds", "0:2")
    assert code == 3
    assert err == f"npu-conformance: {tmp_path / 'found'}: cannot write what was found: Not a directory\n"


def test_a_failure_file_that_cannot_be_written_is_one_line(
    graphs: Graphs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwritten(path: Path, data: bytes) -> None:
        raise ValueError("no words for it")

    monkeypatch.setattr(failures, "write_whole", unwritten)
    code, _, err = graphs(*SEAM, "--plugin-option", "end=miscompute", "--seeds", "1")
    assert (code, err.count("\n")) == (3, 1)
    assert re.search(r"/found/.*\.json: not written: ValueError: no words for it$", err.strip())


NARROW = ("--plugin", "narrow_drivers:plugin", "--isolation", "inprocess", "--plugin-option", "type=TENSOR_FLOAT32")


def test_a_bug_of_the_suite_is_no_answer_of_the_device(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it accepts is asked before the first graph."""

    def broken(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(accepted_operations, "build_model", broken)
    code, _, err = graphs(*NARROW, "--plugin-option", "operations=ADD", "--seeds", "0")
    assert (code, "KeyError: 'a bug'" in err) == (3, True)


def test_graphs_are_drawn_from_what_the_device_accepts(graphs: Graphs) -> None:
    few = (*NARROW, "--plugin-option", "operations=ADD,CONV_2D,SOFTMAX", "--seeds", "0:8")
    code, out, _ = graphs(*few)
    assert code == 0
    assert "only float32 ADD CONV_2D SOFTMAX" in out
    assert re.search(r"the device accepts 3 of \d+ operations, in 1 of 6 types: graphs are drawn from these", out)
    assert "8 right, 0 not supported, 0 wrong" in out
    assert "8 right, 0 not supported, 0 wrong" in graphs(*few, "--types", "TENSOR_FLOAT32")[1]
    assert "accepts" not in graphs(*few, "--operations", "ADD", "--types", "float32")[1]


def test_nothing_that_could_be_judged_ends_with_2(graphs: Graphs) -> None:
    options = (*NARROW, "--plugin-option", "operations=ADD", "--seeds", "0:3")
    code, out, _ = graphs(*options, "--operations", "SIN")
    assert code == 2
    assert "nothing was judged: no graph was executed" in out
    assert graphs(*options, "--operations", "SIN", "-n", "2")[0] == 2


def test_what_is_not_supported_is_no_pass(graphs: Graphs) -> None:
    code, out, _ = graphs(*SEAM, "--plugin-option", "end=partly", "--seeds", "0:4")
    assert code == 2
    assert re.search(r"0 right, 4 not supported, 0 wrong", out)
    assert "not supported in how many graphs: MUL" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seeds", "3:3"), "--seeds 3:3: there is no seed from 3 to before 3"),
        (("--seeds", "x"), "--seeds: expected A:B or A, found 'x'"),
        (("--seed", "-1"), "--seed: expected a number from 0 up, found -1"),
        (("--types", "float64"), "--types: expected some of float32"),
        (("--operations", "FOO"), "--operations FOO: there is no such operation"),
        (("--operations", "RESHAPED"), "--operations RESHAPED: there is no such operation (did you mean RESHAPE?)"),
        (("--operations", "RANDOM_MULTINOMIAL"), "--operations RANDOM_MULTINOMIAL: there are no random graphs of it"),
        (("--operations", "BATCH_MATMUL", "--hal", "1.0"), "HAL 1.0 has no operation that fits"),
        (("-n", "0"), "-n: expected a positive number, found 0"),
        (("--shard", "3/2"), "--shard: expected I/N with 1 <= I <= N, found '3/2'"),
        (("--shard", f"1/{10**20}"), f"--shard: expected I/N with 1 <= I <= N <= 100000, found '1/{10**20}'"),
        (("--shard", "1/2", "-n", "2"), "--shard: not with -n or --scheduler"),
        (("--wire-log", "wire.jsonl", "-n", "2"), "--wire-log: not with -n or --scheduler"),
    ],
)
def test_bad_input_is_told_in_one_line(graphs: Graphs, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = graphs("--plugin", "reference", "--isolation", "inprocess", *arguments)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_time_needs_its_unit(graphs: Graphs, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        graphs("--plugin", "reference", "--time", "60")
    assert leaving.value.code == 2
    assert "--time: expected a time such as 90s, 15m or 2h, found '60'" in capsys.readouterr().err


def counted(out: str) -> list[str]:
    """What was printed of all graphs, less the time and what is worked out for a sample."""
    return [re.sub(r" in [\d.]+ s.*|; [\d.]+% of a sample.*", "", line) for line in out.splitlines()]


def test_shards_are_disjoint_and_whole(graphs: Graphs) -> None:
    def right(*arguments: str) -> int:
        out = graphs("--plugin", "reference", "--isolation", "inprocess", "--seeds", "0:7", *arguments)[1]
        (found,) = re.findall(r"^(\d+) right, 0 not supported, 0 wrong$", out, re.MULTILINE)
        return int(found)

    assert [right(), right("--shard", "1/3"), right("--shard", "2/3"), right("--shard", "3/3")] == [7, 3, 2, 2]


def test_several_processes_count_what_one_does(graphs: Graphs) -> None:
    arguments = (*SEAM, "--plugin-option", "end=partly", "--seeds", "0:6")
    one, several = graphs(*arguments), graphs(*arguments, "-n", "3")
    assert (several[0], counted(several[1])) == (one[0], counted(one[1]))


def test_what_a_process_finds_is_kept(graphs: Graphs, tmp_path: Path) -> None:
    code, out, _ = graphs(*SEAM, "--plugin-option", "end=miscompute", "--seeds", "0:4", "-n", "2")
    assert code == 1
    told = [Path(line.strip()) for line in out.splitlines() if line.startswith("  /")]
    assert told
    assert set(told) == {path for path in (tmp_path / "found").rglob("*") if path.is_file()}


def test_a_part_gets_every_option_of_the_plug_in(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, ...]] = []

    def look(words: tuple[str, ...], stop: threading.Event) -> Ended:
        seen.append(words)
        return Ended(USAGE, "", {})

    monkeypatch.setattr(commands, "run", look)
    given = ("--hal", "1.2", "--isolation", "inprocess", "--transport", "message", "--longest-wait", "7")
    graphs("--plugin", "reference", "--plugin-option", "clock=real", "--seeds", "0:4", "-n", "1", *given)
    (words,) = seen
    pairs = set(pairwise(words))
    assert {
        ("--plugin", "reference"),
        ("--plugin-option", "clock=real"),
        *zip(given[::2], given[1::2], strict=True),
    } <= pairs


def test_a_process_that_cannot_start_the_plug_in_is_one_line(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Ended(USAGE, "npu-conformance: there is no such plug-in\n", {})
    monkeypatch.setattr(commands, "run", lambda words, stop: refused)
    code, _, err = graphs("--plugin", "reference", "--isolation", "inprocess", "--seeds", "0:4", "-n", "2")
    assert code == 2
    assert re.search(r"part \d of 2: npu-conformance: there is no such plug-in$", err)


def test_a_lost_part_is_said_and_fails_the_run(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_dies(words: tuple[str, ...], stop: threading.Event) -> Ended:
        if "1/2" in words:
            raise ConnectionError("the worker died")
        return Ended(-9, "Killed\n", {})

    monkeypatch.setattr(commands, "run", one_dies)
    code, out, _ = graphs("--plugin", "reference", "--isolation", "inprocess", "--seeds", "0:4", "-n", "2")
    assert code == 3
    assert "part 1 of 2 is lost: ConnectionError: the worker died" in out
    assert "part 2 of 2 is lost: it ended with status -9: Killed" in out


@needs_dask
def test_a_cluster_counts_what_one_process_does(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (*SEAM, "--plugin-option", "end=partly", "--seeds", "0:4")
    one = graphs(*arguments)
    monkeypatch.setattr(workers, "PARTS_A_JOB", 1)
    with local_cluster(monkeypatch, workers=1, threads=2) as machines:
        several = graphs(*arguments, "--scheduler", machines.scheduler_address)
    assert (several[0], counted(several[1])) == (one[0], counted(one[1]))
