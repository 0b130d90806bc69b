"""The kit for drivers in other languages (docs/drivers-in-other-languages.md): numbers, tables, rules, methods, models.

Everything in it is generated from specs/ and the suites, so that a driver's author need not copy a number by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from npu_conformance.cli.kit import extensions, header, methods, models, names, tables
from npu_conformance.specs.neuralnetworks.registered_extensions import all_registered
from npu_conformance.specs.versions import Version


def write(folder: Path, version: Version) -> list[Path]:
    """Write the files of the kit and return their paths. version: of the sample models; the tables have all versions.

    The registered extensions have a table of their own, and sample models. Raises OSError where the folder cannot be
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    samples = [*models.lines(version), *extensions.lines(version)]
    texts = {
        "enums.json": document(tables.enumerations()),
        "operand_types.json": document(tables.operand_types()),
        "operations.json": document(tables.operations()),
        "rules.json": document(tables.rules()),
        "methods.json": document(methods.methods()),
        "structs.json": document(methods.structs()),
        "names.json": document(names.names()),
        methods.PAGE: methods.page(),
        "npu_conformance.h": header.text(),
        "models.jsonl": "".join(json.dumps(line, allow_nan=False) + "\n" for line in samples),
    }
    if all_registered():
        texts["extensions.json"] = document(extensions.table())
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


def document(content: dict[str, Any]) -> str:
    """A table as JSON, with one line for each entry of its first level."""
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
