"""Writes and reads failure files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.lines import replay_command
from npu_conformance.harness.report.rule import broken_rule, concerned
from npu_conformance.harness.run import folders
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs import documents
from npu_conformance.specs.documents import results
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Digests, Note
from npu_conformance.specs.documents.storing import write_whole

_UNSAFE = re.compile(r"[^A-Za-z0-9_.,-]+")
_LONGEST_NAME = 150

REPLAY = "replay"
"""Note of a failure file: the command that runs it again, from where the run was started."""


class FailureWriter:
    """The engine's `on_failure`: writes one file for each red case into a folder. plugin: options that name it.

    A waived or known one has its file, too: whoever owns it has to try what he mends.
    """

    def __init__(self, directory: Path, suite_version: str, digests: Digests, plugin: str = "") -> None:
        self._directory, self._suite_version, self._digests = directory, suite_version, digests
        self._plugin = plugin

    def __call__(self, context: CaseContext, result: CaseResult) -> str:
        """Write the file and return its name. Raises OSError, and whatever the case's payload raises."""
        red = _red_parts(result)
        name = file_name(result.case)
        document = FailureFile(
            format=results.FORMAT,
            case=result.case,
            description=context.case.description,
            requirements=result.requirements,
            configurations=tuple(part.name for part in red),
            scope=context.scope.value,
            hal_version=context.version,
            result=replace(result, configurations=red, notes={**result.notes, **self._rule(result, name)}),
            driver=context.subject.account(),
            manifest=context.manifest,
            suite_version=self._suite_version,
            digests=self._digests,
            payload=context.payload() if context.payload else None,
        )
        _write(document, self._directory / name)
        return name

    def _rule(self, result: CaseResult, name: str) -> dict[str, Note]:
        """Return what a reader of the file wants first.

        Notes may have new keys: older versions of the suite read them too.
        """
        replay = {REPLAY: replay_command(str(self._directory / name), self._plugin)} if self._plugin else {}
        rule = broken_rule(result)
        if rule is None:
            return {**replay}
        return {"requirement": concerned(result)[0], "statement": rule.statement, "source": rule.source, **replay}


def _red_parts(result: CaseResult) -> tuple[ConfigurationResult, ...]:
    """The configurations that are red; of a case that is excused as a whole, those that a waiver excuses."""
    red = tuple(part for part in result.configurations if is_red(part.outcome, part.dispositions))
    return red or tuple(part for part in result.configurations if is_red(part.outcome))


def _write(document: FailureFile, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def file_name(case_id: str) -> str:
    """The name of a case's failure file: its id, with a hash where that is too long or has characters shells mind."""
    plain = _UNSAFE.sub("_", case_id)
    if plain == case_id and len(plain) <= _LONGEST_NAME:
        return f"{plain}.json"
    return f"{plain[:_LONGEST_NAME]}-{hashlib.sha256(case_id.encode()).hexdigest()[:8]}.json"


def files(path: Path) -> list[Path]:
    """The failure files that a user means: a file itself, or those of a report folder or of its folder `failures`."""
    if path.is_file() and path.name != folders.RESULTS:
        return [path]
    folder = folders.resolve(path)
    return sorted((folder if folder.name == folders.FAILURES else folder / folders.FAILURES).glob("*.json"))


def move(file: Path, directory: Path, plugin: str) -> None:
    """Move a failure file into the folder of another report, and let its replay command name it there."""
    copy(file, directory, plugin)
    file.unlink()


def copy(file: Path, directory: Path, plugin: str) -> None:
    """Write a failure file into the folder of another report, with a replay command that names it there."""
    document = load(file)
    notes = {**document.result.notes, REPLAY: replay_command(str(directory / file.name), plugin)}
    _write(replace(document, result=replace(document.result, notes=notes)), directory / file.name)


def load(path: Path, *, named: bool = False) -> FailureFile:
    """Read a failure file; raises DocumentError. named: by the user, as of documents.content."""
    return documents.read(path, FailureFile, named=named)
