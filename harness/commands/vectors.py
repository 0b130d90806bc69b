"""`npu-conformance vectors`: recompute witnesses, generate the stored vectors from their plans, show one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from npu_conformance.harness.main import UsageError
from npu_conformance.harness.outcome_table import OK, WRONG

if TYPE_CHECKING:
    from npu_conformance.specs.witnesses import Engine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    witness = actions.add_parser("witness", help="recompute expected values with sources that know no kernel")
    witness.add_argument("operations", metavar="OPERATION", nargs="*", help="default: all")
    witness.add_argument(
        "--engine", metavar="MODULE:FUNCTION", action="append", default=[],
        help="another witness: a function of a vector and an example that returns outputs by name, or None",
    )  # fmt: skip
    generate = actions.add_parser("generate", help="write specs/vectors from the plans")
    generate.add_argument("operations", metavar="OPERATION", nargs="*", help="default: all")
    show = actions.add_parser("show", help="print one vector")
    show.add_argument("name", metavar="OPERATION.NAME")


def execute(options: argparse.Namespace) -> int:
    """Do what was asked."""
    actions = {"witness": _witness, "generate": _generate, "show": _show}
    return actions[options.action](options)


def _witness(options: argparse.Namespace) -> int:
    from npu_conformance.specs import vectors, witnesses

    engines: dict[str, Engine] = {"oracle": witnesses.oracle}
    for spec in options.engine:
        engines[spec] = _engine(spec)
    count = disagreements = 0
    for operation in _operations(options.operations, vectors.operations()):
        for header in vectors.headers(operation):
            count += 1
            for disagreement in witnesses.witness(vectors.load(operation, header.name), engines):
                disagreements += 1
                print(disagreement)
    print(f"{count} vectors, {disagreements} disagreements with {', '.join(engines)}")
    return WRONG if disagreements else OK


def _generate(options: argparse.Namespace) -> int:
    from npu_conformance.specs import plans, vector_writing

    for operation in _operations(options.operations, plans.names()):
        print(vector_writing.write_vectors(operation))
    return OK


def _show(options: argparse.Namespace) -> int:
    import json

    from npu_conformance.specs import vector_writing, vectors

    operation, _, name = options.name.partition(".")
    if operation not in vectors.operations():
        raise UsageError(f"no vectors of {operation!r}; there are {' '.join(vectors.operations())}")
    try:
        vector = vectors.load(operation, name)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None
    print(json.dumps(vector_writing.document_of(vector), indent=1))
    return OK


def _operations(asked: list[str], known: Iterable[str]) -> list[str]:
    available = list(known)
    for operation in asked:
        if operation not in available:
            raise UsageError(f"no vectors of {operation!r}; there are {' '.join(available)}")
    return asked or available


def _engine(spec: str) -> Engine:
    import importlib

    module, separator, name = spec.partition(":")
    try:
        found: Engine = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"--engine {spec}: {error}") from None
    if not separator or not callable(found):
        raise UsageError(f"--engine {spec}: expected MODULE:FUNCTION")
    return found
