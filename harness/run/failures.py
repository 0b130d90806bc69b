"""Writes and reads failure files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs import documents
from npu_conformance.specs.documents import results
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.results import CaseResult, Digests

_UNSAFE = re.compile(r"[^A-Za-z0-9_.,-]+")
_LONGEST_NAME = 150


class FailureWriter:
    """The engine's `on_failure`: writes one file for each red case into a folder."""

    def __init__(self, directory: Path, suite_version: str, digests: Digests) -> None:
        self._directory, self._suite_version, self._digests = directory, suite_version, digests

    def __call__(self, context: CaseContext, result: CaseResult) -> str:
        """Write the file and return its name. Raises OSError, and whatever the case's payload raises."""
        red = tuple(part for part in result.configurations if is_red(part.outcome, part.dispositions))
        document = FailureFile(
            format=results.FORMAT,
            case=result.case,
            description=context.case.description,
            requirements=result.requirements,
            configurations=tuple(part.name for part in red),
            scope=context.scope.value,
            hal_version=context.version,
            result=replace(result, configurations=red),
            manifest=context.manifest,
            suite_version=self._suite_version,
            digests=self._digests,
            payload=context.payload() if context.payload else None,
        )
        path = self._directory / file_name(result.case)
        self._directory.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
        return path.name


def file_name(case_id: str) -> str:
    """The name of a case's failure file: its id, with a hash where that is too long or has characters shells mind."""
    plain = _UNSAFE.sub("_", case_id)
    if plain == case_id and len(plain) <= _LONGEST_NAME:
        return f"{plain}.json"
    return f"{plain[:_LONGEST_NAME]}-{hashlib.sha256(case_id.encode()).hexdigest()[:8]}.json"


def load(path: Path) -> FailureFile:
    """Read a failure file; raises DocumentError."""
    return documents.read(path, FailureFile)
