"""`npu-conformance schemas`: prints or writes the JSON Schemas of documents and messages."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, WRONG


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("name", nargs="?", help="print this schema; without a name, list them")
    parser.add_argument("--check", metavar="FILE", type=Path, help="check a JSON file against the schema NAME")
    parser.add_argument("--write", action="store_true", help="write the stored schema files from the types")


def execute(options: argparse.Namespace) -> int:
    """Print, check or write."""
    from npu_conformance.specs import schemas

    if options.write:
        schemas.write()
        return OK
    names = sorted(schemas.kinds())
    if options.name is None and options.check is not None:
        raise UsageError(f"--check needs the NAME of a schema: npu-conformance schemas NAME --check {options.check}")
    if options.name is None:
        print("\n".join(names))
        return OK
    if options.name not in names:
        raise UsageError(f"no schema {options.name!r}; there are {' '.join(names)}")
    if options.check is not None:
        return _check(options.check, options.name)
    print((schemas.FOLDER / f"{options.name}.schema.json").read_text("utf-8"), end="")
    return OK


def _check(path: Path, name: str) -> int:
    import json

    from npu_conformance.specs import documents, schemas

    try:
        lines = schemas.explain(json.loads(documents.content(path, named=True).decode()), name)
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply") from None
    print("\n".join(f"{path}: {line}" for line in lines) or f"{path}: a valid {name}")
    return WRONG if lines else OK
