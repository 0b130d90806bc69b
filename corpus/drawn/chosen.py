"""Which candidates are run: `chosen.json`, which `npu-conformance vectors choose` writes."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.specs import documents, versions
from npu_conformance.specs.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_conformance.specs.versions import Version

FILE = Path(__file__).with_suffix(".json")
WRITER = "npu-conformance vectors choose"

Numbers = Sequence[Sequence[int]]
"""Of each seed the numbers of its candidates."""


class Chosen(Document, frozen=True):
    """The content of chosen.json. models: by operation and by the first version for which the choice was made."""

    written_by: str
    models: Mapping[str, Mapping[str, Numbers]]


@functools.cache
def chosen() -> Chosen:
    """What is chosen."""
    return documents.read(FILE, Chosen)


def numbers(operation: str, version: Version) -> Numbers:
    """The candidates of an operation in a version, by seed: those of the latest choice up to the version, if any."""
    made = chosen().models.get(operation, {})
    earlier = [one for one in made if versions.parse(one) <= version]
    return made[max(earlier, key=versions.parse)] if earlier else ()


def write(made: Mapping[str, Mapping[str, Numbers]]) -> None:
    """Write the choice of some operations beside that of the others."""
    before = chosen().models if FILE.exists() else {}
    rows = ",\n".join(_lines({**before, **made}))
    FILE.write_text(f'{{\n  "written_by": "{WRITER}",\n  "models": {{\n{rows}\n  }}\n}}\n')
    chosen.cache_clear()


def _lines(models: Mapping[str, Mapping[str, Numbers]]) -> Iterator[str]:
    """A line for each operation and version, which a reader can compare."""
    separator = ",\n"
    for operation, made in sorted(models.items()):
        rows = (f'      "{version}": {json.dumps(one, separators=(",", ":"))}' for version, one in made.items())
        yield f'    "{operation}": {{\n{separator.join(rows)}\n    }}'
