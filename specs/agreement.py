"""The record of which engines outside of this project were found to agree with which stored vectors.

`npu-conformance vectors witness --engine NAME --record` writes it, and the plans put it into the vectors' `witnesses`,
so that an engine has to be installed for recording only.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document

PATH = Path(__file__).parent / "plans" / "agreement.json"


class EngineRecord(Document, frozen=True):
    """What is on record of one engine; vectors by operation.

    agreed: vectors that it was run on, and all of whose expected values it found within the public tolerance.
    explained: vectors on which it disagrees because the engine is wrong, each with the reason; written by hand.
    """

    agreed: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    explained: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)

    def reason(self, operation: str, name: str) -> str | None:
        """Why the engine is known to disagree with a vector; null where it is not."""
        return self.explained.get(operation, {}).get(name)


@functools.cache
def records(path: Path = PATH) -> Mapping[str, EngineRecord]:
    """All records by name of the engine. Raises DocumentError for a file that is none."""
    return documents.read(path, dict[str, EngineRecord])


def engines(operation: str, name: str) -> tuple[str, ...]:
    """Names of the engines that agree with a vector, sorted."""
    return tuple(sorted(key for key, record in records().items() if name in record.agreed.get(operation, ())))


def record(engine: str, agreed: Mapping[str, Iterable[str]], path: Path = PATH) -> None:
    """Write down for some operations with which vectors an engine agrees; what is said of others stays."""
    found = dict(records(path))
    before = found.get(engine, EngineRecord())
    merged = {**before.agreed, **{operation: tuple(sorted(names)) for operation, names in agreed.items()}}
    found[engine] = msgspec.structs.replace(before, agreed={key: names for key, names in merged.items() if names})
    path.write_text(_text(found))
    records.cache_clear()


def _text(found: Mapping[str, EngineRecord]) -> str:
    """One line for each operation."""
    engines = (f"{json.dumps(name)}: {_engine_text(found[name])}" for name in sorted(found))
    return "{" + ",\n".join(engines) + "}\n"


def _engine_text(known: EngineRecord) -> str:
    return f'{{"agreed": {_lines(known.agreed)},\n "explained": {_lines(known.explained)}}}'


def _lines(by_operation: Mapping[str, Any]) -> str:
    lines = (f"  {json.dumps(key)}: {json.dumps(by_operation[key])}" for key in sorted(by_operation))
    return "{\n" + ",\n".join(lines) + "}"
