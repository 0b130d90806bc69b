"""Report folders: each run has its own, by time; `latest` leads to the newest; a run never replaces another.

.npu-conformance/<plug-in>/20261122T185156Z-1.3-vts.queries/
.npu-conformance/<plug-in>/latest -> 20261122T185156Z-1.3-vts.queries
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec

from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import Selection

ROOT = Path(".npu-conformance")
LATEST = "latest"
EVENTS, RESULTS, FAILURES = "events.jsonl", "results.json", "failures"
SHARDS = "shards"
"""Where the processes of `run -n N` keep what they record until it is merged."""
STOP = "stop"
"""File in the folder of such a process: it ends in order where this is there, and says why."""
FILES = (EVENTS, RESULTS, "junit.xml", "report.html", FAILURES, SHARDS)
KEPT = 20
"""How many reports of the same whole suites are kept where the user does not say, and how many of parts of suites."""

_MARKER = ".run"
"""Marks a folder that a run has made, and is locked while the run lasts. It holds what `covers` returns."""
_EARLIER = "earlier-"
_NAME = re.compile(rf"({_EARLIER})?\d{{8}}T\d{{6}}Z\b.*")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_LABEL = 60
_NAMED = 3
"""How many old reports that had to go are named."""


class _FirstEvent(msgspec.Struct):
    """What the first line of an event file has in all versions."""

    event: str


class ReportFolder(msgspec.Struct):
    """The folder of a run that goes on; nobody else writes there, or removes it, before `close`.

    removed: the old reports that had to go for this one.
    """

    path: Path
    lock: int
    removed: tuple[Path, ...] = ()

    def mark(self, covered: str) -> None:
        """Keep what the run covers, by `covers`: empty where it ends before it has. Raises OSError."""
        os.ftruncate(self.lock, 0)
        os.pwrite(self.lock, covered.encode(), 0)

    @property
    def removal(self) -> str:
        """A line about the old reports that had to go; empty where none had."""
        names = [str(path) for path in self.removed[:_NAMED]]
        if len(self.removed) > _NAMED:
            names.append(f"{len(self.removed) - _NAMED} more")
        return f"removed {counted(len(self.removed), 'old report')} (--keep): {', '.join(names)}" if names else ""

    def close(self) -> None:
        """Let others use the folder."""
        os.close(self.lock)

    @contextlib.contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Let others use the folder where something is raised meanwhile."""
        try:
            yield
        except BaseException:
            self.close()
            raise


def label(version: str, selection: Selection, transports: Sequence[str] = ()) -> str:
    """What a run is about, as a part of a file name: its version, and what was asked for.

    transports: those that the user has chosen for memory.
    """
    words = [version, *transports, *selection.suites, *selection.patterns, selection.expression]
    words += [selection.scope] if selection.scope != "default" else []
    words += ["last-failed"] if selection.last_failed else []
    safe = (_UNSAFE.sub("_", word).strip("_").rstrip("._") for word in words)
    return "-".join(filter(None, safe))[:_LONGEST_LABEL].rstrip("._-")


def covers(version: str, selection: Selection, transports: Sequence[str] = ()) -> str:
    """Which suites a run is about as a whole, with its scope; empty for a part of them, such as a few cases or a shard.

    Reports of whole suites outlive any number of reports of parts.
    """
    is_part = selection.patterns or selection.expression or selection.last_failed or selection.shard
    return "" if is_part else label(version, selection, transports)


def create(home: Path, about: str, keep: int = KEPT, covered: str = "") -> ReportFolder:
    """Make the folder of a new run in a plug-in's folder, let `latest` lead there, and remove the oldest ones.

    about: by `label`; covered: by `covers`. Raises DocumentError where nothing can be written there.
    """
    try:
        made = _made_anew(home, f"{_now()}-{about}")
        with made.closed_on_error():
            made.mark(covered)
            _point(home / LATEST, made.path.name)
    except OSError as error:
        raise _cannot_keep(home, error) from None
    made.removed = _pruned(home, keep, made.path, covered)
    return made


def take(folder: Path, keep: int = KEPT, covered: str = "") -> tuple[ReportFolder, Path | None]:
    """Use a folder that the user named; the run that it holds moves into `earlier-<time>` inside of it.

    Returns the folder, and where the earlier run is now; None where there is none, or none is kept. Raises
    DocumentError where another run is writing there, and where the files in the way are of no run: they are the user's.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_of_a_run(folder)
        taken = ReportFolder(folder, _locked(folder))
        with taken.closed_on_error():
            moved = _set_aside(folder)
            taken.mark(covered)
    except OSError as error:
        raise _cannot_keep(folder, error) from None
    taken.removed = tuple(old for old in _pruned(folder, keep, folder, covered) if old != moved)
    return taken, moved if moved and moved.exists() else None


def would_move(folder: Path, place: Path) -> bool:
    """True where `take` moves away what is in a place: the run of the folder itself, or a part of it."""
    whole, inner = folder.resolve(), place.resolve()
    return inner == whole or any(inner.is_relative_to(whole / name) for name in FILES)


def reopen(folder: Path) -> ReportFolder:
    """Go on in the folder of an earlier run. Raises DocumentError where another run is writing there."""
    try:
        return ReportFolder(folder, _locked(folder))
    except OSError as error:
        raise _cannot_keep(folder, error) from None


def is_home(folder: Path) -> bool:
    """True for the folder of a plug-in, where each run has its own."""
    return (folder / LATEST).is_symlink()


def resolve(path: Path) -> Path:
    """The folder of a run that a user means: a report folder, a plug-in's folder (its latest run) or a results.json."""
    folder = path.parent if path.name == RESULTS else path
    link = folder if folder.name == LATEST or path.name == RESULTS else folder / LATEST
    return link.parent / link.readlink() if link.is_symlink() else folder


def results_file(path: Path) -> Path:
    """The results.json that a user means, by the file itself or by a folder as `resolve` takes it.

    Raises DocumentError for the folder of a run that was cut off before it had results.
    """
    if not path.is_dir():
        return path
    folder = resolve(path)
    if (folder / EVENTS).exists() and not (folder / RESULTS).exists():
        raise DocumentError(str(folder), "", "the run was cut off: its command with --resume completes it")
    return folder / RESULTS


def _pruned(home: Path, keep: int, new: Path, covered: str) -> tuple[Path, ...]:
    """Remove the oldest runs but `keep` of those that cover the same, and return them; the new run is one of these.

    Nothing else is removed: no folder that no run has made, none in use.
    """
    counts = Counter([covered])
    removed = []
    for entry in _runs(home):
        if entry != new:
            counts[_covered(entry)] += 1
            if counts[_covered(entry)] > keep and _remove(entry):
                removed.append(entry)
    return tuple(removed)


def _covered(entry: Path) -> str:
    """What a run has covered; empty for a run that was cut off, as for a part."""
    try:
        return documents.content(entry / _MARKER).decode() if (entry / RESULTS).exists() else ""
    except (DocumentError, ValueError):  # gone meanwhile, or written by somebody else
        return ""


def _remove(entry: Path) -> bool:
    """Remove the folder of a run, and say whether that was possible."""
    with contextlib.suppress(DocumentError, OSError):
        lock = _locked(entry)
        shutil.rmtree(entry, ignore_errors=True)
        os.close(lock)
        return True
    return False


def before(folder: Path) -> list[Path]:
    """The runs that are kept beside the run of a folder, or inside of it, and are older; the newest first."""
    place = folder.parent if is_home(folder.parent) else folder
    made = _runs(place)
    return made[made.index(folder) + 1 :] if folder in made else made


def _runs(place: Path) -> list[Path]:
    """The runs that are kept in a folder, the newest first."""
    return sorted((entry for entry in place.iterdir() if _is_of_a_run(entry)), key=_time_of, reverse=True)


def _is_of_a_run(entry: Path) -> bool:
    whole = _NAME.fullmatch(entry.name) is not None and not entry.is_symlink()
    return whole and (entry / _MARKER).is_file()


def _time_of(entry: Path) -> tuple[str, int]:
    """The order of runs: by the second in their names, then by when they were made; 0 where it is gone meanwhile."""
    made = 0
    with contextlib.suppress(OSError):
        made = (entry / _MARKER).stat().st_mtime_ns
    return entry.name.removeprefix(_EARLIER)[:16], made


def _made_anew(home: Path, name: str) -> ReportFolder:
    home.mkdir(parents=True, exist_ok=True)
    for path in _names(home / name):
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return ReportFolder(path, _locked(path))
    raise AssertionError("there is always another name")


def _names(path: Path) -> Iterator[Path]:
    """The path, then path-2, path-3 ...: another run may have begun in the same second."""
    yield path
    yield from (path.with_name(f"{path.name}-{number}") for number in count(2))


def _require_of_a_run(folder: Path) -> None:
    """Raise DocumentError where files with the names of a report are in a folder where no run has ever been."""
    held = _held(folder)
    if held and not (folder / _MARKER).exists() and not _has_events(folder):
        names = ", ".join(path.name for path in held)
        raise DocumentError(str(folder), "", f"no run has made what is here ({names}): name another report folder")


def _has_events(folder: Path) -> bool:
    """True where a run of any version of the suite has begun its event file. The marker is lost where a CI packs it."""
    if not (folder / EVENTS).is_file():
        return False
    try:
        with open(folder / EVENTS, "rb") as file:
            return msgspec.json.decode(file.readline(documents.LARGEST), type=_FirstEvent).event == "run-started"
    except (OSError, ValueError):  # msgspec's errors are ValueErrors
        return False


def _held(folder: Path) -> list[Path]:
    """What is in the way of a report."""
    return [folder / name for name in FILES if (folder / name).exists()]


def _set_aside(folder: Path) -> Path | None:
    held = _held(folder)
    if not held:
        return None
    newest = max(path.stat().st_mtime for path in held)
    when = datetime.datetime.fromtimestamp(newest, datetime.UTC)
    aside = _made_anew(folder, _EARLIER + _in_words(when))
    with contextlib.closing(aside):
        shutil.copyfile(folder / _MARKER, aside.path / _MARKER)
        for path in held:
            path.rename(aside.path / path.name)
    return aside.path


def _point(link: Path, target: str) -> None:
    """Let a link lead elsewhere in one step: who follows it meanwhile finds the old or the new folder."""
    temporary = link.with_name(f".{LATEST}-{target}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(link)


def _locked(folder: Path) -> int:
    """Return the descriptor that holds the folder for this process, until it is closed or the process dies."""
    descriptor = os.open(folder / _MARKER, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DocumentError(str(folder), "", "another run is writing its report here") from None
    except OSError:
        pass  # a file system without locks: nothing tells that somebody else is here
    return descriptor


def _cannot_keep(folder: Path, error: OSError) -> DocumentError:
    return DocumentError(str(folder), "", f"cannot keep the report: {error.strerror}")


def _now() -> str:
    return _in_words(datetime.datetime.now(datetime.UTC))


def _in_words(time: datetime.datetime) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ")
