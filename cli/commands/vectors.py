"""`npu-conformance vectors`: recomputes witnesses, generates the stored vectors, shows one, imports others."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.cli.commands import _stored_vectors
from npu_conformance.cli.commands._options import add_catalogue_option
from npu_conformance.cli.commands._output import write_text
from npu_conformance.cli.commands._witness import ENGINES
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK
from npu_conformance.specs.diagnostics.counted import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    witness = actions.add_parser(
        "witness", help="recompute expected values with witnesses that are independent of the kernels"
    )
    witness.add_argument("operations", metavar="OPERATION", nargs="*", help="default: all")
    witness.add_argument(
        "--engine",
        metavar="ENGINE",
        action="append",
        default=[],
        help=f"another witness: {', '.join(ENGINES)}, or MODULE:FUNCTION, a function of a vector and an example that "
        "returns outputs by name, or None",
    )
    witness.add_argument(
        "--driver",
        metavar="NAME=PLUGIN",
        help="a HAL driver as another witness, under this name; it also gets the invalid vectors",
    )
    witness.add_argument(
        "--plugin-option", metavar="NAME=VALUE", action="append", default=[], help="option of the plug-in; repeatable"
    )
    witness.add_argument(
        "--record",
        action="store_true",
        help="record in the stored vectors which engines agree (witnesses), and which invalid vectors the driver "
        "executed (taken_by)",
    )
    witness.add_argument(
        "--vectors",
        metavar="PATH",
        type=Path,
        help="your own vectors (docs/own-vectors.md) instead of the stored ones",
    )
    add_catalogue_option(witness)
    generate = actions.add_parser("generate", help="write corpus/vectors from the generators")
    generate.add_argument("operations", metavar="OPERATION", nargs="*", help="default: all")
    choose = actions.add_parser(
        "choose", help="choose the models of vts.drawn from many candidates, by the traits that they combine"
    )
    choose.add_argument("operations", metavar="OPERATION", nargs="*", help="default: all")
    table = actions.add_parser("table", help="print which types of which operations the stored vectors cover")
    table.add_argument(
        "--write", metavar="FILE", type=Path, help="write the table to a file, such as docs/operations.md"
    )
    show = actions.add_parser("show", help="print one vector, or the model of a failure")
    show.add_argument(
        "name",
        metavar="OPERATION.NAME|ID|FILE",
        help="a vector; the id of a case: vts.generated.PAD.float32[nchw], vts.drawn.ABS.models#seed_0_model_8; "
        "a failure file, or the file of a finding",
    )
    show.add_argument(
        "--as", dest="form", choices=("json", "text", "dot"), default="json", help="format (default: json)"
    )
    add_catalogue_option(show)
    export = actions.add_parser("export", help="write vectors for your own unit tests: JSON, and a header for C")
    export.add_argument(
        "names", metavar="OPERATION|OPERATION.NAME|ID", nargs="+", help="all vectors of an operation, or single ones"
    )
    export.add_argument("--to", metavar="DIR", type=Path, required=True, help="where to write the files")
    add_catalogue_option(export)
    aosp = actions.add_parser("import-aosp", help="run AOSP's .mod.py specifications, confined, and expand their tests")
    aosp.add_argument("source", metavar="SRC", type=Path, help="a specification file, or a folder of them")
    aosp.add_argument("--out", metavar="DIR", type=Path, help="write a collection for each folder: `run --vectors DIR`")
    aosp.add_argument("--list", action="store_true", help="print the names of the tests")
    aosp.add_argument(
        "--seconds", metavar="N", type=int, default=60, help="processor time for one file (default: %(default)s)"
    )
    tflite = actions.add_parser(
        "import-tflite", help="show a .tflite model as a model of the NN HAL, or print why it cannot be one"
    )
    tflite.add_argument("source", metavar="FILE", type=Path, help="the .tflite file")
    tflite.add_argument("--out", metavar="FILE", type=Path, help="write it as a vector without examples, in JSON")


def execute(options: argparse.Namespace) -> int:
    """Execute the chosen command."""
    actions = {
        "witness": _witness, "generate": _generate, "choose": _choose, "show": _show, "export": _export,
        "table": _table,
        "import-aosp": _import_aosp, "import-tflite": _import_tflite,
    }  # fmt: skip
    return actions[options.action](options)


def _witness(options: argparse.Namespace) -> int:
    from npu_conformance.cli.commands import _witness as witness

    return witness.execute(options)


def _generate(options: argparse.Namespace) -> int:
    from npu_conformance.corpus import generators
    from npu_conformance.corpus.vectors import writing

    for operation in _stored_vectors.operations(options.operations, generators.names()):
        print(writing.write_vectors(operation))
    return OK


def _choose(options: argparse.Namespace) -> int:
    from npu_conformance.corpus import drawn
    from npu_conformance.corpus.drawn import choosing, chosen

    for operation in _stored_vectors.operations(options.operations, drawn.operations()):
        made = choosing.choices(operation, drawn.SEEDS)
        chosen.write({operation: made})
        print(f"{operation}: {', '.join(made)}")
    return OK


def _table(options: argparse.Namespace) -> int:
    from npu_conformance.corpus.vectors import coverage

    text = coverage.table()
    if options.write:
        write_text(options.write, text)
    else:
        print(text, end="")
    return OK


def _show(options: argparse.Namespace) -> int:
    from npu_conformance.cli.commands import _shown_models
    from npu_conformance.corpus import vectors

    if options.name.endswith(".json"):
        print(_shown_models.of_file(Path(options.name), options.form))
        return OK
    if options.name in (*vectors.operations(), *vectors.registered_operations()):
        names = f"names are in: npu-conformance list vts.generated.{options.name}"
        raise UsageError(f"expected {options.name}.NAME; {names}")
    if _shown_models.is_case(options.name) and not _stored_vectors.is_stored(options.name):
        shown = _shown_models.of_case(options.name)
    else:
        shown = [_shown_models.Shown("", one) for one in _stored_vectors.named(options.name)]
    print(_shown_models.in_form(shown, options.form))
    return OK


def _export(options: argparse.Namespace) -> int:
    from npu_conformance.cli.commands import _vector_export

    chosen = [vector for word in options.names for vector in _stored_vectors.named(word)]
    try:
        written = _vector_export.write(chosen, options.to)
    except OSError as error:
        raise UsageError(f"--to {options.to}: {error.strerror}") from None
    print(f"{counted(len(written) - 1, 'vector')} in {options.to}, as JSON and together in {written[-1]}")
    return OK


def _import_aosp(options: argparse.Namespace) -> int:
    from npu_conformance.cli.commands import _aosp

    return _aosp.execute(options)


def _import_tflite(options: argparse.Namespace) -> int:
    from npu_conformance.cli.commands import _tflite

    return _tflite.execute(options)
