"""The command `report`: one folder as before, several side by side, a badge; bad folders and full disks in one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from made_runs import EVERYTHING, LATENCIES, case, keep
from msgspec.structs import replace

from npu_conformance.cli.main import main
from npu_conformance.specs.outcomes import Disposition, Outcome


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs; the second is older."""
    after = keep(tmp_path / "after", case("PAD.a", Outcome.FAIL), case("PAD.b"), time="2030-01-16T08:00:00Z")
    return after, keep(tmp_path / "before", case("PAD.a"), case("PAD.b"), time="2030-01-15T08:00:00Z")


def report(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["report", *map(str, words)])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_several_folders_are_compared_by_time(runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = report(capsys, *runs)
    assert code == 0
    assert out.splitlines()[0].startswith(f"run 1: {runs[1]}: toy 1")
    assert "  worse vts.generated.PAD.a: pass -> fail" in out.splitlines()


def test_several_folders_as_a_page(runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert report(capsys, *runs, "--html", page) == (0, "", "")
    assert "2 runs side by side" in page.read_text()


def test_several_folders_as_json(runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(report(capsys, *runs, "--json")[1])
    assert told["differing"] == [
        {"case": "vts.generated.PAD.a", "outcomes": ["pass", "fail"], "worse": True, "better": False}
    ]


def test_a_results_file_that_was_kept_alone_can_be_compared(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "monday.json"
    alone.write_bytes((runs[1] / "results.json").read_bytes())
    assert "worse vts.generated.PAD.a" in report(capsys, runs[0], alone)[1]


def test_each_bad_folder_has_one_line(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "events.jsonl").write_text("no json\n")
    code, out, err = report(capsys, runs[0], tmp_path / "none", tmp_path / "empty", tmp_path / "torn")
    assert (code, out) == (2, "")
    assert [line.split(": ")[1].removesuffix(":1") for line in err.splitlines()] == [
        str(tmp_path / name) for name in ("none", "empty", "torn/events.jsonl")
    ]


def test_where_there_is_no_report_a_line_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = f"npu-conformance: {tmp_path}/nowhere: there is no report here\n"
    assert report(capsys, tmp_path / "nowhere") == (2, "", told)


def test_a_run_is_not_compared_with_itself(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(runs[0])
    code, _, err = report(capsys, runs[0], tmp_path / "link")
    assert code == 2
    assert "these are one run" in err


@pytest.mark.parametrize("option", ["--failures", "--causes", "--warnings", "--reasons", "--junit=x", "--badge=x"])
def test_what_shows_one_run_wants_one_folder(
    option: str, runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = report(capsys, *runs, option)
    assert code == 2
    assert err.startswith(f"npu-conformance: {option.partition('=')[0]}: shows one run, found 2 folders")


def test_reasons_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [replace(case(f"PAD.{name}", Outcome.NOT_APPLICABLE), message="no clock") for name in "ab"]
    run = keep(tmp_path / "run", case("PAD.c"), *cases)
    assert report(capsys, run, "--reasons") == (0, "     2 not-applicable: no clock\n", "")


def test_all_causes_are_told_and_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("one", "two", "three", "four", "five", "six", "seven")
    run = keep(tmp_path / "run", *(case(f"PAD.{word}", Outcome.FAIL, message=f"{word} is wrong") for word in words))
    code, out, _ = report(capsys, run)
    assert (code, "2 others, of 2 causes" in out) == (0, True)
    assert f"all 7 causes: npu-conformance report {run} --causes" in out
    for told in (report(capsys, run, "--causes")[1], report(capsys, run, "--html", "-")[1].partition("<pre>")[0]):
        assert all(f"1 fail: {word} is wrong" in told for word in words)


def test_what_is_waived_or_known_is_explained_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = replace(case("PAD.a", Outcome.FAIL, message="off by 3"), dispositions=(Disposition.KNOWN,))
    out = report(capsys, keep(tmp_path / "known", known), "--failures")[1].splitlines()
    assert out[:2] == ["what is excused, 1 known:", "fail (known) vts.generated.PAD.a: off by 3"]
    assert report(capsys, keep(tmp_path / "well", case("PAD.a")), "--failures")[1] == "nothing is red\n"


def test_a_badge(runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, runs[0], "--badge", tmp_path / "badge.svg") == (0, "", "")
    assert "1 failed, HAL 1.2" in (tmp_path / "badge.svg").read_text()


@pytest.mark.parametrize(("option", "begins"), [("--html", "<!doctype"), ("--badge", "<svg"), ("--junit", "<?xml")])
def test_a_dash_is_standard_output(
    option: str, begins: str, runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, out, err = report(capsys, runs[0], option, "-")
    assert (code, out[: len(begins)].lower(), err) == (0, begins, "")
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("option", ["--html", "--badge", "--junit"])
def test_a_full_disk_is_one_line_and_nothing_is_lost(
    option: str, runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in runs[0].iterdir()}
    code, out, err = report(capsys, runs[0], option, "/dev/full")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err == "npu-conformance: /dev/full: cannot be written: No space left on device\n"
    assert {path: path.read_bytes() for path in runs[0].iterdir()} == before


def test_the_page_of_a_folder_is_the_same_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = keep(tmp_path / "run", *EVERYTHING)
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        report(capsys, folder, "--html", page)
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert b'<section id="latency"' in pages[0].read_bytes()


def test_figures_of_an_earlier_run_stand_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = keep(tmp_path / "now", *EVERYTHING, time="2030-01-16T08:00:00Z")
    before = keep(tmp_path / "before", *LATENCIES[:1], time="2030-01-15T08:30:00Z")
    page = tmp_path / "page.html"
    assert report(capsys, now, "--html", page, "--beside-run", before) == (0, "", "")
    assert "toy of 2030-01-15 08:30" in page.read_text()
    assert report(capsys, now, "--html", page) == (0, "", "")
    assert "2030-01-15" not in page.read_text()


def test_an_earlier_run_without_figures_is_refused(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = report(capsys, runs[0], "--html", tmp_path / "page.html", "--beside-run", runs[1])
    assert (code, err) == (2, f"npu-conformance: --beside-run: {runs[1]}: this run has measured nothing\n")


@pytest.mark.parametrize("flag", ["--beside-run", "--fuzz"])
def test_what_is_for_a_page_needs_one(runs: tuple[Path, Path], flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = report(capsys, runs[0], flag, runs[1])
    assert (code, err) == (2, f"npu-conformance: {flag}: is for a page: add --html FILE\n")


def test_a_folder_without_a_campaign_is_refused(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = report(capsys, runs[0], "--html", tmp_path / "page.html", "--fuzz", tmp_path / "none")
    assert (code, err) == (2, f"npu-conformance: {tmp_path / 'none'}: no campaign has run there\n")


_NO_FILE = "expected a file, found a pipe, a socket or a device"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("results.json", "report"),
        ("events.jsonl", "report"),
        ("events.jsonl", "run vts.queries.liveness.ping --plugin reference --resume --report"),
    ],
)
def test_a_report_of_a_stranger_that_never_ends_is_one_line(
    name: str, words: str, runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (runs[0] / name).unlink()
    (runs[0] / name).symlink_to("/dev/null")
    assert main([*words.split(), str(runs[0])]) == 2
    assert capsys.readouterr().err == f"npu-conformance: {runs[0]}/{name}: {_NO_FILE}\n"


def test_an_event_file_that_is_a_pipe_is_of_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    assert main(["run", "vts.queries.liveness.ping", "--plugin", "reference", "--report", str(tmp_path)]) == 2
    assert "no run has made what is here (events.jsonl)" in capsys.readouterr().err


@pytest.mark.parametrize("time", ["9999-99-99T00:00:00Z", "-0001-01-01T00:00:00Z"])
def test_an_impossible_time_is_one_line(time: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = keep(tmp_path / "run", case("PAD.a"), time=time)
    code, _, err = report(capsys, folder, "--csv", tmp_path / "figures.csv")
    assert (code, err) == (2, f"npu-conformance: {folder}: $.time: expected a time in ISO 8601, found {time!r}\n")
