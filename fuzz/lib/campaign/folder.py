"""The folder of a campaign: corpus, findings and rounds, each line whole, so that a killed campaign goes on from there.

campaign.json           what it is about
rounds.jsonl            a line for each round
findings.jsonl          a line for each finding, and failures/NAME.json to replay it
unmerged.jsonl          a line for each finding of a round that has not ended
corpus/FUZZER/          inputs, named by their digests; corpus/FUZZER.jsonl what each shows
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.campaign.documents import (
    CorpusLine,
    Doubt,
    Finding,
    Kept,
    RoundLine,
    RoundResult,
    Settings,
    Sighting,
    Unmerged,
)
from npu_conformance.fuzz.lib.campaign.replay_files import replay_file
from npu_conformance.fuzz.lib.findings import comes_back
from npu_conformance.fuzz.lib.in_words import in_words
from npu_conformance.fuzz.lib.inputs import Lines, digest
from npu_conformance.harness.report.writing import writing
from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents import Document, DocumentError
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.storing import append_line, write_whole

Line = TypeVar("Line")

SETTINGS, ROUNDS, FINDINGS, CORPUS, LOCK = "campaign.json", "rounds.jsonl", "findings.jsonl", "corpus", "lock"
UNMERGED = "unmerged.jsonl"
FINDINGS_FOLDER = "failures"
"""As in a report folder: `replay` takes the whole campaign."""
LARGEST_CORPUS = 4 << 20
"""Bytes of corpus that travel with one round: the latest inputs, beside the fuzzer's own seeds."""
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_LONGEST = 60


class CampaignFolder:
    """An open folder, which nobody else writes to. `findings` and `rounds` are what it holds, in their order.

    damaged: what of it cannot be read, in words; it is left as it is. now: seconds of the campaign, by who runs it.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        """Open or begin a folder.

        Raises DocumentError where it is another campaign's, in use, not to be written, or holds a link or a pipe.
        """
        self.path = path
        require_own(path)
        self._lock = _locked(path)
        self._settings = settings
        self.now: Callable[[], float] = lambda: 0.0
        self._noting, self._unmerged = threading.Lock(), dict[str, int]()
        self._corpus: dict[str, dict[str, tuple[int, ...]]] = {}
        try:
            _require_same(path, settings)
            self.rounds = list(read_lines(path / ROUNDS, RoundLine))
            self.findings = list(read_lines(path / FINDINGS, Finding))
            self.damaged = list(_damaged(path))
            self.take_up()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others have it."""
        os.close(self._lock)

    def corpus(self, fuzzer: str) -> tuple[Kept, ...]:
        """The inputs that are kept for a fuzzer, the latest ones of them that may travel: LARGEST_CORPUS bytes.

        A file that is gone, unreadable or changed costs that input only.
        """
        size, chosen = 0, []
        for name, features in reversed(self._index(fuzzer).items()):
            if (data := _content(self.path / CORPUS / fuzzer / name)) is None or digest(data) != name:
                continue
            size += len(data)
            if size > LARGEST_CORPUS:
                break
            chosen.append(Kept(data=data, features=features))
        return tuple(reversed(chosen))

    def features(self, fuzzer: str) -> set[int]:
        """Everything that inputs of a fuzzer have shown."""
        return {feature for features in self._index(fuzzer).values() for feature in features}

    def add(self, result: RoundResult, job_seed: int, at: float, lost: str = "") -> RoundLine:
        """Record a round: its inputs, then its findings, then the line that says that it is done.

        Raises UnwritableError; what was written by then stays.
        """
        with writing(self.path, "the campaign"):
            return self._add(result, job_seed, at, lost)

    def _add(self, result: RoundResult, job_seed: int, at: float, lost: str) -> RoundLine:
        inputs = self._add_inputs(result)
        fresh = [found for found in result.sightings if found.is_another or found.signature not in self.known()]
        names = [self._add_finding(result, found, job_seed, at) for found in fresh]
        line = RoundLine(
            at=at,
            fuzzer=result.fuzzer,
            engine=result.engine,
            seconds=result.seconds,
            start_seconds=result.start_seconds,
            executions=result.executions,
            inputs=inputs,
            corpus=len(self._index(result.fuzzer)),
            features=len(self.features(result.fuzzer)),
            findings=tuple(names),
            repeats=result.repeats,
            lost=lost,
            inapplicable=result.inapplicable,
            killers=result.killers,
        )
        _append(self.path / ROUNDS, line)
        self.rounds.append(line)
        self._merged(job_seed)
        return line

    def note(self, found: Unmerged) -> None:
        """Keep a finding of a round that goes on, until that is added: a kill would lose it. Any thread may do so.

        Raises UnwritableError.
        """
        with self._noting, writing(self.path, "the campaign"):
            self._unmerged.setdefault(found.sighting.signature, found.seed)
            _append(self.path / UNMERGED, replace(found, at=self.now()))

    @property
    def count(self) -> int:
        """How many findings there are, those of rounds that go on included."""
        with self._noting:
            return len(self.findings) + len(self._unmerged.keys() - self.known())

    def take_up(self) -> None:
        """Add the findings of rounds that never ended. Raises UnwritableError; what was added by then stays."""
        lines = list(read_lines(self.path / UNMERGED, Unmerged))
        latest = {(one.seed, one.sighting.signature): one for one in lines}
        met = {(one.seed, one.sighting.signature): one.at for one in reversed(lines)}
        with self._noting, writing(self.path, "the campaign"):
            for key, found in latest.items():
                if found.sighting.is_another or found.sighting.signature not in self.known():
                    self._add_finding(_unmerged(found), found.sighting, found.seed, met[key])
            self._unmerged.clear()
            (self.path / UNMERGED).unlink(missing_ok=True)

    def _merged(self, seed: int) -> None:
        """The findings of a round are added: they need not be kept apart any longer."""
        path = self.path / UNMERGED
        with self._noting:
            self._unmerged = {name: other for name, other in self._unmerged.items() if other != seed}
            if path.exists():
                left = [one for one in read_lines(path, Unmerged) if one.seed != seed]
                write_whole(path, b"".join(map(documents.encode_line, left)))
                if not left:
                    path.unlink()

    def killers(self, fuzzer: str) -> set[str]:
        """Digests of the inputs that ended a process."""
        return {name for line in self.rounds if line.fuzzer == fuzzer for name in line.killers}

    def minimise(self, fuzzer: str) -> int:
        """Drop the inputs that show nothing that others do not; returns how many are left. Raises UnwritableError."""
        with writing(self.path, "the campaign"):
            return self._minimise(fuzzer)

    def _minimise(self, fuzzer: str) -> int:
        index = self._index(fuzzer)
        chosen = {name: index[name] for name in minimal(index)}
        lines = [documents.encode_line(CorpusLine(name=name, features=found)) for name, found in chosen.items()]
        write_whole(self.path / CORPUS / f"{fuzzer}.jsonl", b"".join(lines))
        for name in index.keys() - chosen.keys():
            (self.path / CORPUS / fuzzer / name).unlink(missing_ok=True)
        self._corpus[fuzzer] = chosen
        return len(chosen)

    def known(self) -> set[str]:
        """Signatures of the findings."""
        return {finding.signature for finding in self.findings}

    def doubts(self) -> dict[str, Doubt]:
        """The latest input of each finding that fails each time, alone, by its signature; what is gone is left out."""
        inputs: dict[str, Doubt] = {}
        for finding in self.findings:
            data = _input_of(self.path / FINDINGS_FOLDER / finding.name)
            inputs.pop(finding.signature, None)
            if data is not None and comes_back(finding.where, finding.message):
                inputs[finding.signature] = Doubt(fuzzer=finding.fuzzer, data=data)
        return inputs

    def _index(self, fuzzer: str) -> dict[str, tuple[int, ...]]:
        if fuzzer not in self._corpus:
            lines = read_lines(self.path / CORPUS / f"{fuzzer}.jsonl", CorpusLine)
            self._corpus[fuzzer] = {line.name: line.features for line in lines}
        return self._corpus[fuzzer]

    def _add_inputs(self, result: RoundResult) -> int:
        """Keep the inputs of a round that show what none did before, or reach new code. Returns how many."""
        index, seen = self._index(result.fuzzer), self.features(result.fuzzer)
        folder = self.path / CORPUS / result.fuzzer
        folder.mkdir(parents=True, exist_ok=True)
        count = 0
        for kept in result.kept:
            name = digest(kept.data)
            if name in index or (kept.features and seen.issuperset(kept.features)):
                continue
            seen.update(kept.features)
            (folder / name).write_bytes(kept.data)
            _append(self.path / CORPUS / f"{result.fuzzer}.jsonl", CorpusLine(name=name, features=kept.features))
            index[name] = kept.features
            count += 1
        return count

    def _add_finding(self, result: RoundResult, found: Sighting, seed: int, at: float) -> str:
        found = _with_model(result.fuzzer, found)
        start = result.start
        assert start is not None, "a round without a beginning finds nothing"
        cause = digest(found.signature.encode() + b"\n" + found.data)[:8]
        name = f"{result.fuzzer}-{found.kind}-{_in_a_name(found.where)}-{cause}.json"
        folder = self.path / FINDINGS_FOLDER
        folder.mkdir(exist_ok=True)
        write_whole(folder / name, replay_file(result.fuzzer, found, start, self._settings, str(folder / name)))
        finding = Finding(
            name=name,
            fuzzer=result.fuzzer,
            kind=found.kind,
            where=found.where,
            message=found.message,
            plugin=self._settings.plugin,
            hal_version=start.hal_version,
            seed=seed,
            at=min(at, max(0.0, at - result.all_seconds + found.after)),
            bytes=len(found.data),
        )
        _append(self.path / FINDINGS, finding)
        self.findings.append(finding)
        return name


def _in_a_name(where: str) -> str:
    """The words of a place that fit into the name of a file, whole ones where there are several."""
    words = _UNSAFE.sub("-", where).strip("-")
    whole = words[: _LONGEST + 1].rpartition("-")[0] if len(words) > _LONGEST else words
    return whole or words[:_LONGEST]


def _unmerged(found: Unmerged) -> RoundResult:
    return RoundResult(found.fuzzer, found.engine, executions=0, seconds=0.0, start_seconds=0.0, start=found.start)


def _with_model(fuzzer: str, found: Sighting) -> Sighting:
    """The finding, with a message that says which model it is about."""
    words = in_words(fuzzer, found.data)
    return replace(found, message=f"{found.message}; {words}") if words else found


def _input_of(file: Path) -> bytes | None:
    """The input of a finding's file; None where it cannot be read."""
    try:
        return msgspec.convert(documents.read(file, FailureFile).payload, Lines).data
    except (DocumentError, msgspec.ValidationError):
        return None


def require_own(path: Path) -> None:
    """Raise DocumentError for what no campaign makes, and a stranger may have put there: a link, or what never ends."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            if (entry := Path(folder, name)).is_symlink():
                raise DocumentError(str(entry), "", "a symbolic link, which no campaign makes and none follows")
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile by the campaign that has it open
                documents.readable(entry)


def settings_of(path: Path) -> Settings:
    """What the campaign of a folder is about. Raises DocumentError."""
    return documents.read(path / SETTINGS, Settings)


def read_lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    """The lines of a file that may have been cut off anywhere; a line that cannot be read costs that line only."""
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            yield documents.decode(line, kind, path.name)
        except DocumentError:
            continue


def _damaged(path: Path) -> Iterator[str]:
    """Files with lines that cannot be read, and inputs that are listed and are not there, or not what they were."""
    kinds: list[tuple[Path, type[Document]]] = [(path / ROUNDS, RoundLine), (path / FINDINGS, Finding)]
    kinds += [(index, CorpusLine) for index in sorted((path / CORPUS).glob("*.jsonl"))]
    for file, kind in kinds:
        written = len(file.read_bytes().splitlines()) if file.is_file() else 0
        read = list(read_lines(file, kind))
        if len(read) < written:
            yield f"{written - len(read)} lines of {file.relative_to(path)} cannot be read"
        names = {line.name for line in read if isinstance(line, CorpusLine)}
        found = {name: _digest_of(path / CORPUS / file.stem / name) for name in names}
        gone = sum(its is None for its in found.values())
        if gone:
            yield f"{counted(gone, 'input')} of {file.stem} gone"
        changed = sum(its is not None and its != name for name, its in found.items())
        if changed:
            yield f"{counted(changed, 'input')} of {file.stem} emptied or changed"


def minimal(index: Mapping[str, Sequence[int]]) -> list[str]:
    """A small choice of inputs that show all that the whole corpus does; those that show nothing known are kept."""
    left = {feature for features in index.values() for feature in features}
    chosen = [name for name, features in index.items() if not features]
    for name in sorted(index, key=lambda name: (-len(index[name]), name)):
        if left.intersection(index[name]):
            chosen.append(name)
            left.difference_update(index[name])
    return chosen


def _content(path: Path) -> bytes | None:
    """An input; None where there is none. What is longer than all that may travel is cut, and so not what it was."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_CORPUS + 1)
    except OSError:
        return None


def _digest_of(path: Path) -> str | None:
    data = _content(path)
    return None if data is None else digest(data)


def is_in_use(path: Path) -> bool:
    """True where a campaign has the folder open. Raises DocumentError where nobody can have."""
    try:
        os.close(_locked(path))
    except FolderInUseError:
        return True
    return False


class FolderInUseError(DocumentError):
    """Another campaign has the folder open."""


def _locked(path: Path) -> int:
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise DocumentError(str(path), "", f"cannot keep a campaign here: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise FolderInUseError(str(path), "", "another campaign is using this folder") from None
    return lock


def _require_same(path: Path, settings: Settings) -> None:
    file = path / SETTINGS
    if not file.exists():
        with writing(path, "the campaign"):
            write_whole(file, msgspec.json.format(msgspec.json.encode(settings), indent=1) + b"\n")
        return
    before = settings_of(path)
    for name in ("plugin", "options", "hal", "beside"):
        was, is_now = getattr(before, name), getattr(settings, name)
        if was != is_now:
            rule = f"its campaign has {name} {was or 'none'}, not {is_now or 'none'}: take another folder (--corpus)"
            raise DocumentError(str(file), name, rule)


def _append(path: Path, document: Document) -> None:
    append_line(path, msgspec.json.encode(document))
