"""The record of which engines outside of this project were found to agree with which stored vectors.

`npu-conformance vectors witness --engine NAME --record` writes it, and the plans put it into the vectors' `witnesses`,
so that an engine has to be installed for recording only.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document

FOLDER = Path(__file__).parent / "generators" / "agreement"


class EngineRecord(Document, frozen=True):
    """What is on record of one engine and one operation.

    agreed: vectors that it was run on, and all of whose expected values it found within the public tolerance.
    explained: vectors on which it disagrees because the engine is wrong, each with the reason; written by hand.
    """

    agreed: tuple[str, ...] = ()
    explained: dict[str, str] = msgspec.field(default_factory=dict)


@functools.cache
def records(operation: str, folder: Path = FOLDER) -> Mapping[str, EngineRecord]:
    """The records of an operation by name of the engine. Raises DocumentError for a file that is none."""
    path = _path(operation, folder)
    return documents.read(path, dict[str, EngineRecord]) if path.exists() else {}


def reason(engine: str, operation: str, name: str) -> str | None:
    """Why an engine is known to disagree with a vector; null where it is not."""
    return records(operation).get(engine, EngineRecord()).explained.get(name)


def engines(operation: str, name: str) -> tuple[str, ...]:
    """Names of the engines that agree with a vector, sorted."""
    return tuple(sorted(key for key, record in records(operation).items() if name in record.agreed))


def record(engine: str, agreed: Mapping[str, Iterable[str]], folder: Path = FOLDER) -> None:
    """Write down for some operations with which vectors an engine agrees; what is said of others stays."""
    for operation, names in agreed.items():
        found = dict(records(operation, folder))
        known = msgspec.structs.replace(found.pop(engine, EngineRecord()), agreed=tuple(sorted(names)))
        if known != EngineRecord():
            found[engine] = known
        path = _path(operation, folder)
        if found:
            path.write_text(_text(found))
        else:
            path.unlink(missing_ok=True)
    records.cache_clear()


def _path(operation: str, folder: Path) -> Path:
    return folder / f"{operation.lower()}.json"


def _text(found: Mapping[str, EngineRecord]) -> str:
    """One line for each list of vectors."""
    engines = (
        f'{json.dumps(name)}: {{\n  "agreed": {json.dumps(found[name].agreed)},\n'
        f'  "explained": {json.dumps(found[name].explained)}}}'
        for name in sorted(found)
    )
    return "{" + ",\n ".join(engines) + "}\n"
