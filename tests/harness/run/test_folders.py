"""Report folders: none is ever replaced, only old ones of our own go, and `latest` leads to the newest."""

from __future__ import annotations

import datetime
import errno
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from npu_conformance.harness.run import folders
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import Selection

NOON = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.UTC)


@pytest.fixture
def _at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all runs begin in the same second."""
    monkeypatch.setattr(folders, "_now", lambda: "20261122T120000Z")


def made(home: Path, about: str = "1.3", keep: int = folders.KEPT) -> Path:
    """The folder of a run that has ended."""
    folder = folders.create(home, about, keep)
    folder.close()
    return folder.path


def names(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.name != "latest")


@pytest.mark.parametrize(
    ("selection", "label"),
    [
        (Selection(), "fl8"),
        (
            Selection(suites=("vts",), patterns=("vts.generated.PAD*",), scope="smoke"),
            "fl8-vts-vts.generated.PAD-smoke",
        ),
        (Selection(expression="PAD and not (a or b)"), "fl8-PAD_and_not_a_or_b"),
        (Selection(patterns=("../../etc",), last_failed=True), "fl8-.._.._etc-last-failed"),
        (
            Selection(patterns=("vts.generated.ADD.*", "vts.generated.RELU.*")),
            "fl8-vts.generated.ADD-vts.generated.RELU",
        ),
        (Selection(patterns=("x" * 300,)), "fl8-" + "x" * 56),
    ],
)
def test_a_label_says_what_ran_in_a_safe_file_name(selection: Selection, label: str) -> None:
    assert folders.label("fl8", selection) == label


def test_a_label_says_how_memory_travels_where_the_user_does() -> None:
    label = folders.label("1.3", Selection(suites=("vts",)), ("descriptor", "message"))
    assert label == "1.3-descriptor-message-vts"


@pytest.mark.usefixtures("_at_noon")
def test_runs_of_the_same_second_have_folders_of_their_own(tmp_path: Path) -> None:
    assert [made(tmp_path).name for _ in range(3)] == [
        "20261122T120000Z-1.3",
        "20261122T120000Z-1.3-2",
        "20261122T120000Z-1.3-3",
    ]
    assert (tmp_path / "latest").readlink() == Path("20261122T120000Z-1.3-3")


@pytest.mark.usefixtures("_at_noon")
def test_runs_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: made(tmp_path), range(12)))
    assert len(set(found)) == 12
    assert folders.resolve(tmp_path) in found


@pytest.mark.usefixtures("_at_noon")
def test_the_oldest_runs_go_and_nothing_else(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    theirs = home / "20200101T000000Z-mine"  # looks like ours, but no run has made it
    theirs.mkdir(parents=True)
    (home / "notes").mkdir()
    outside = made(elsewhere)
    (home / "20200101T000000Z-linked").symlink_to(outside)
    runs = [made(home, f"1.{number}", keep=9) for number in range(3)]
    for number, run in enumerate(runs):
        os.utime(run / ".run", (number, number))
    last = made(home, "last", keep=2)
    assert [run.exists() for run in runs] == [False, False, True]
    assert last.exists()
    assert theirs.exists()
    assert outside.exists()
    assert (home / "notes").exists()


@pytest.fixture
def _second_by_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run begin a second after the one before."""
    seconds = itertools.count(100000)
    monkeypatch.setattr(folders, "_now", lambda: f"20261122T{next(seconds)}Z")


def covering(home: Path, covered: str) -> folders.ReportFolder:
    """The folder of a run that has ended with a result."""
    folder = folders.create(home, "run", 2, covered)
    (folder.path / "results.json").touch()
    folder.close()
    return folder


def test_what_a_run_covers_is_its_suites_and_scope() -> None:
    assert folders.covers("1.3", Selection(suites=("vts",), scope="smoke")) == "1.3-vts-smoke"
    parts = ({"patterns": ("vts.queries",)}, {"expression": "ADD"}, {"shard": "1/2"}, {"last_failed": True})
    assert [folders.covers("1.3", Selection(suites=("vts",), **part)) for part in parts] == [""] * 4


@pytest.mark.usefixtures("_second_by_second")
def test_runs_of_parts_do_not_push_out_whole_ones(tmp_path: Path) -> None:
    whole, smoke = covering(tmp_path, "1.3-vts"), covering(tmp_path, "1.3-vts-smoke")
    parts = [covering(tmp_path, "") for _ in range(4)]
    assert [each.path.exists() for each in (whole, smoke, *parts)] == [True, True, False, False, True, True]
    assert [each.removed for each in parts] == [(), (), (parts[0].path,), (parts[1].path,)]
    assert parts[3].removal == f"removed 1 old report (--keep): {parts[1].path}"
    further = [covering(tmp_path, "1.3-vts") for _ in range(2)]
    assert [each.path.exists() for each in (whole, smoke, *further)] == [False, True, True, True]


@pytest.mark.usefixtures("_second_by_second")
def test_a_run_that_was_cut_off_counts_as_a_part(tmp_path: Path) -> None:
    for _ in range(3):
        cut_off = folders.create(tmp_path, "run", 2, "1.3-vts")
        cut_off.close()
    assert len(names(tmp_path)) == 3  # the newest is about to cover all
    assert len(covering(tmp_path, "").removed) == 2


@pytest.mark.usefixtures("_at_noon")
def test_a_run_that_goes_on_is_not_removed(tmp_path: Path) -> None:
    going_on = folders.create(tmp_path, "long")
    os.utime(going_on.path / ".run", (0, 0))
    made(tmp_path, "short", keep=1)
    assert going_on.path.exists()
    going_on.close()
    made(tmp_path, "third", keep=1)
    assert names(tmp_path) == ["20261122T120000Z-third"]


def test_a_run_in_a_folder_of_the_user_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (folder / "failures").mkdir(parents=True)
    for name in (".run", "events.jsonl", "notes.txt", "failures/a.json"):
        (folder / name).write_text(name)
        os.utime(folder / name, (NOON.timestamp(), NOON.timestamp()))
    os.utime(folder / "failures", (NOON.timestamp(), NOON.timestamp()))
    taken, moved = folders.take(folder)
    taken.close()
    assert moved == folder / "earlier-20261122T120000Z"
    assert names(folder) == [".run", "earlier-20261122T120000Z", "notes.txt"]
    assert (moved / "failures" / "a.json").read_text() == "failures/a.json"
    again, moved = folders.take(folder)
    again.close()
    assert moved is None


def test_a_run_that_is_set_aside_covers_what_it_did(tmp_path: Path) -> None:
    for covered in ("1.3-vts", "", "", ""):
        taken, _ = folders.take(tmp_path, 2, covered)
        (taken.path / "results.json").touch()
        taken.close()
    kept = [path / ".run" for path in tmp_path.iterdir() if path.is_dir()]
    assert sorted(path.read_text() for path in kept) == ["", "1.3-vts"]


def test_an_earlier_run_that_is_not_kept_is_not_said_to_be(tmp_path: Path) -> None:
    for name in (".run", "events.jsonl"):
        (tmp_path / name).write_text("earlier")
    taken, moved = folders.take(tmp_path, keep=1)
    taken.close()
    assert (moved, names(tmp_path)) == (None, [".run"])


@pytest.mark.parametrize("held", [("junit.xml", "failures/notes.txt"), ("results.json",), ("events.jsonl", "shards/a")])
def test_files_of_the_user_are_in_the_way_and_stay(held: tuple[str, ...], tmp_path: Path) -> None:
    for name in held:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"mine: {name}")
    names_of = ", ".join(name.partition("/")[0] for name in held)
    for _ in range(2):  # what was refused is no run that has been here
        with pytest.raises(DocumentError) as caught:
            folders.take(tmp_path, keep=1)
        assert str(caught.value) == (
            f"{tmp_path}: no run has made what is here ({names_of}): name another report folder"
        )
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {*held}
    assert all((tmp_path / name).read_text() == f"mine: {name}" for name in held)


@pytest.mark.parametrize(
    "traces",
    [
        {".run": b""},  # killed before its first event
        {"events.jsonl": b'{"event":"run-started","format":1}\n{"event":"case-st'},  # unpacked from a CI, and cut off
        {"events.jsonl": b'{"event":"run-started","format":0,"of":"an older version"}\n', "results.json": b"{}"},
    ],
)
def test_whatever_a_run_has_left_is_of_a_run(traces: dict[str, bytes], tmp_path: Path) -> None:
    for name, data in {**traces, "junit.xml": b"<testsuites/>"}.items():
        (tmp_path / name).write_bytes(data)
    taken, moved = folders.take(tmp_path)
    taken.close()
    assert moved is not None
    assert names(moved) == sorted({".run", "junit.xml", *traces})
    assert (names(tmp_path), moved.parent) == ([".run", moved.name], tmp_path)


def test_earlier_runs_in_a_folder_of_the_user_are_kept_up_to_a_number(tmp_path: Path) -> None:
    for number in range(4):
        folder, _ = folders.take(tmp_path, keep=3)
        (tmp_path / "events.jsonl").write_text(str(number))
        folder.close()
    earlier = {(path / "events.jsonl").read_text() for path in tmp_path.iterdir() if path.is_dir()}
    assert earlier == {"1", "2"}


def _created(home: Path) -> object:
    return folders.create(home, "short")


def test_a_folder_that_another_run_writes_to_is_refused(tmp_path: Path) -> None:
    going_on, _ = folders.take(tmp_path)
    (tmp_path / "events.jsonl").write_text("kept")
    for use in (folders.take, folders.reopen):
        with pytest.raises(DocumentError, match="another run is writing its report here"):
            use(tmp_path)
    assert (tmp_path / "events.jsonl").read_text() == "kept"
    going_on.close()
    folders.reopen(tmp_path).close()


@pytest.mark.parametrize("use", [folders.take, lambda path: folders.create(path, "1.3")])
def test_a_folder_that_cannot_be_made_is_one_line(use: object, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(DocumentError, match="file/kept: cannot keep the report: Not a directory"):
        use(file / "kept")  # type: ignore[operator]


def test_a_folder_is_named_in_every_way_a_user_would(tmp_path: Path) -> None:
    run = made(tmp_path)
    (run / "results.json").write_text("{}")
    for path in (run, tmp_path, tmp_path / "latest", run / "results.json", tmp_path / "latest" / "results.json"):
        assert folders.resolve(path).resolve() == run.resolve(), path
        assert folders.results_file(path).resolve() == (run / "results.json").resolve(), path
    other = tmp_path / "baseline.json"
    other.write_text("{}")
    assert folders.results_file(other) == other


@pytest.mark.parametrize(("step", "use"), [("_set_aside", folders.take), ("_point", _created)])
def test_what_fails_keeps_no_folder_locked(
    step: str, use: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(folders, step, _disk_full)
        with pytest.raises(DocumentError, match="No space left on device"):
            use(tmp_path)
    (folder,) = [path.parent for path in tmp_path.rglob(".run")]
    folders.reopen(folder).close()


def _disk_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
