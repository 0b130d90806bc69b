"""The example's catalogue, a copy of it to corrupt, and all that a registered catalogue makes known."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npu_conformance.corpus import oracles, vectors
from npu_conformance.specs.neuralnetworks import catalogue, registered_extensions, rules
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

CATALOGUE = Path(__file__).parents[2] / "examples" / "extension" / "catalogue"
CLAMP, REQUANTIZE, TYPE = "EXAMPLE_CLAMP", "EXAMPLE_REQUANTIZE", "TENSOR_EXAMPLE_ASYMM16"
EXTENSION, TABLE = "extension.json", "operations/example_clamp.json"
RULES, ORACLE = "rules/example_clamp.py", "oracles/example_clamp.py"
VECTORS = "vectors/example_clamp.json"


def copied(place: Path) -> Path:
    """A copy of the catalogue in this folder."""
    copy = place / "own"
    shutil.copytree(CATALOGUE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def edited(path: Path, edit: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def known() -> tuple[Any, ...]:
    tables = (catalogue.names(), rules.operations(), oracles.names(), vectors.registered_operations())
    return (*tables, dict(OPERAND_TYPES), registered_extensions.all_registered())
