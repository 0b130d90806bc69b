"""What the stored vectors of each operation cover; corpus/vectors is generated from it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.specs.neuralnetworks.enums import OperationType

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector


def names() -> tuple[str, ...]:
    """Names of the operations that have a generator, sorted."""
    stems = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return tuple(sorted(stems.intersection(OperationType.__members__)))


def vectors(operation: str) -> Iterator[Vector]:
    """The vectors that an operation's generator makes, with expected values from its oracle."""
    module = importlib.import_module(f"{__name__}.{operation.lower()}")
    made: Iterator[Vector] = module.vectors()
    return made
