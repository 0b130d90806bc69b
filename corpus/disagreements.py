"""The stored vectors on which an engine outside of this project is known to be wrong, and why: disagreements.json.

With which vectors an engine agrees stands in their `witnesses`. These reasons are written by hand, once it is clear who
is right.
"""

from __future__ import annotations

import functools
from pathlib import Path

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document

FILE = Path(__file__).parent / "disagreements.json"


class Explained(Document, frozen=True):
    """Vectors of one operation that an engine gets wrong for one reason."""

    operation: str
    engine: str
    vectors: tuple[str, ...]
    reason: str


@functools.cache
def explained() -> tuple[Explained, ...]:
    """All known disagreements. Raises DocumentError where the file is wrong."""
    return documents.read(FILE, tuple[Explained, ...])


def reason(engine: str, operation: str, name: str) -> str | None:
    """Why an engine is known to disagree with a vector; None where it is not."""
    for known in explained():
        if (known.engine, known.operation) == (engine, operation) and name in known.vectors:
            return known.reason
    return None
