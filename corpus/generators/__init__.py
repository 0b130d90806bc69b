"""What the stored vectors of each operation cover; vectors/ is generated from it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.corpus import agreement
from npu_conformance.specs.neuralnetworks.enums import OperationType

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector


def names() -> tuple[str, ...]:
    """Names of the operations that have a plan, sorted."""
    stems = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return tuple(sorted(stems.intersection(OperationType.__members__)))


def vectors(operation: str) -> Iterator[Vector]:
    """The vectors that an operation's plan asks for, with expected values from its oracle and all their witnesses."""
    module = importlib.import_module(f"{__name__}.{operation.lower()}")
    planned: Iterator[Vector] = module.vectors()
    for vector in planned:
        yield replace(vector, witnesses=(*vector.witnesses, *agreement.engines(operation, vector.name)))
