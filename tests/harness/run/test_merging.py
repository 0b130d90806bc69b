"""The shards of several machines become one run, with one verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_runs import TODAY, keep, waiver

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, USAGE, WRONG
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.run import failures, merging, results
from npu_conformance.harness.run.cases import MANDATORY, Case
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.events import EventLog, read_log
from npu_conformance.harness.run.failures import FailureWriter
from npu_conformance.harness.run.folders import EVENTS, FAILURES
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, Digests, Selection
from npu_conformance.specs.outcomes import Outcome

MakeCase = Callable[..., Case]


def verdict(name: str, outcome: Outcome = Outcome.PASS) -> CaseResult:
    return CaseResult(case=f"vts.queries.{name}", outcome=outcome, own_outcome=outcome, requirements=("REQ-1",))


def shard(folder: Path, which: str, *verdicts: CaseResult, **header: Any) -> Path:
    return keep(folder, *verdicts, selection=Selection(suites=("vts",), shard=which, deselected=4), **header)


def test_the_whole_has_the_verdicts_of_all_and_is_judged_as_one(
    make_case: MakeCase, subject: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [make_case(f"group_{group.value}", group=group) for group in MANDATORY["device"]]
    for number, part in enumerate((cases[:2], cases[2:]), 1):
        sink = EventLog(tmp_path / str(number) / EVENTS)
        Engine(part, subject, sink, EngineOptions(selection=Selection(shard=f"{number}/2"))).run()
        sink.close()
        outcome = results.build(read_log(tmp_path / str(number) / EVENTS))
        assert f"only shard {number}/2 was run" in outcome.reasons
    folders = [str(tmp_path / name) for name in ("2", "1")]
    assert main(["merge", *folders, "--report", str(tmp_path / "whole"), "--require-conformant"]) == OK
    assert "conformant" in capsys.readouterr().out
    outcome = results.read(tmp_path / "whole" / "results.json")
    assert (outcome.conformant, outcome.counts, outcome.selection.shard) == (True, {"pass": 4}, "")
    assert results.build(read_log(tmp_path / "whole" / EVENTS)).problems == ()
    assert (tmp_path / "whole" / "report.html").exists()


def test_failure_files_come_along_and_say_where_they_are_now(make_case: MakeCase, subject: Any, tmp_path: Path) -> None:
    def body(context: Any) -> None:
        raise AssertionError

    writer = FailureWriter(tmp_path / "1" / FAILURES, "0", Digests(), "--plugin p")
    sink = EventLog(tmp_path / "1" / EVENTS)
    Engine(
        [make_case("a", body)], subject, sink, EngineOptions(selection=Selection(shard="1/1")), on_failure=writer
    ).run()
    sink.close()
    merging.merge(merging.read([tmp_path / "1"]), tmp_path / "whole", "--plugin p")
    (file,) = failures.files(tmp_path / "whole" / FAILURES)
    assert str(tmp_path / "whole") in str(failures.load(file).result.notes[failures.REPLAY])
    assert len(failures.files(tmp_path / "1" / FAILURES)) == 1


def test_a_failure_file_that_cannot_be_read_costs_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard(tmp_path / "1", "1/1", verdict("a"))
    spoilt = tmp_path / "1" / FAILURES / "b.json"
    spoilt.parent.mkdir()
    spoilt.write_text("spoilt")
    assert main(["merge", str(tmp_path / "1"), "--report", str(tmp_path / "whole")]) == 3
    assert f"{spoilt}: not JSON" in capsys.readouterr().out
    assert results.read(tmp_path / "whole" / "results.json").counts == {"pass": 1}


def test_a_shard_that_was_cut_off_leaves_the_whole_cut_off(tmp_path: Path) -> None:
    one, two = shard(tmp_path / "1", "1/2", verdict("a")), shard(tmp_path / "2", "2/2", verdict("b"))
    lines = (two / EVENTS).read_text().splitlines(keepends=True)
    (two / EVENTS).write_text("".join(lines[:1]))
    outcome = results.build(merging.merge(merging.read([one, two]), tmp_path / "whole", ""))
    assert not outcome.complete
    assert [each.case for each in outcome.not_run] == ["vts.queries.b"]


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_a_merged_report_outlives_parts_where_the_run_came_to_its_end(tmp_path: Path, is_cut_off: bool) -> None:
    one, two = (shard(tmp_path / str(at), f"{at}/2", verdict(str(at))) for at in (1, 2))
    if is_cut_off:
        lines = (two / EVENTS).read_text().splitlines(keepends=True)
        (two / EVENTS).write_text("".join(lines[:1]))
    main(["merge", str(one), str(two), "--report", str(tmp_path / "whole")])
    assert bool((tmp_path / "whole" / ".run").read_text()) is not is_cut_off


@pytest.mark.parametrize(
    ("shards", "seeds", "problem"),
    [
        (("1/3", "3/3"), (0, 0), "shard 2/3 is missing"),
        (("1/2", "1/2"), (0, 0), "shard 1/2 was given more than once"),
        (("1/1", "1/1"), (0, 0), "shard 1/1 was given more than once"),
        (("1/2", ""), (0, 0), "2: this run was whole: expected one with --shard"),
        (("1/2", "2/2"), (0, 1), "2: is not a shard of the run of "),
    ],
)
def test_what_is_not_one_run_is_refused(
    tmp_path: Path, shards: tuple[str, str], seeds: tuple[int, int], problem: str
) -> None:
    folders = [shard(tmp_path / str(number), which, verdict(str(number))) for number, which in enumerate(shards, 1)]
    if seeds[0] != seeds[1]:
        path = folders[1] / EVENTS
        path.write_text(path.read_text().replace('"seed":0', '"seed":1', 1))
    with pytest.raises(DocumentError) as caught:
        merging.read(folders)
    assert problem in str(caught.value)


def test_a_waiver_is_judged_by_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no mistake in a shard that another shard has the case that it is for."""
    waivers = Waivers([waiver("vts.queries.b", requirement="REQ-1")], TODAY)
    assert waivers.problems(waivers.uses([verdict("a")]), whole=False) == []
    assert len(waivers.problems(waivers.uses([verdict("a")]))) == 1
    one, two = shard(tmp_path / "1", "1/2", verdict("a")), shard(tmp_path / "2", "2/2", verdict("b", Outcome.FAIL))
    words = ["merge", str(one), str(two), "--report", str(tmp_path / "whole")]
    assert main(words) == WRONG
    file = tmp_path / "w.json"
    file.write_text('{"format": 1, "waivers": []}')
    assert main([*words, "--waivers", str(file)]) == USAGE
    assert "--waivers: the shards were run without any" in capsys.readouterr().err


@pytest.mark.parametrize("inputs", [("1", "2"), ("1/../1", "2"), ("2/shards/1", "3")])
def test_a_shard_is_not_merged_into_its_own_folder(
    tmp_path: Path, inputs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its failure files would be moved away before they are read."""
    places = [tmp_path / name for name in inputs]
    for number, place in enumerate(places, 1):
        shard(place.resolve(), f"{number}/2", verdict(str(number), Outcome.FAIL))
        (place / ".run").touch()
        (place / FAILURES).mkdir()
        (place / FAILURES / "mine.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    report = tmp_path / inputs[0][0]
    assert main(["merge", *map(str, places), "--report", str(report)]) == USAGE
    told = f"npu-conformance: --report: {report}: the shard {places[0]} would be moved away: name another folder\n"
    assert capsys.readouterr() == ("", told)
    assert sorted(tmp_path.rglob("*")) == before


def test_waivers_that_are_not_there_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = shard(tmp_path / "1", "1/1", verdict("a"))
    for option in ("--waivers", "--baseline"):
        assert main(["merge", str(one), "--report", str(tmp_path / "whole"), option, str(tmp_path / "gone")]) == USAGE
        assert capsys.readouterr() == ("", f"npu-conformance: {tmp_path / 'gone'}: No such file or directory\n")
