"""`npu-conformance kit`: writes what a driver in another language needs of numbers, tables and sample models."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.cli.commands._options import add_catalogue_option
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder for the files; created if it is missing")
    parser.add_argument(
        "--hal", metavar="VERSION", help="version of the sample models, 1.0 to fl8 (default: the newest)"
    )
    add_catalogue_option(parser)


def execute(options: argparse.Namespace) -> int:
    """Write the files and name them."""
    from npu_conformance.cli import kit
    from npu_conformance.specs import versions

    try:
        version = versions.parse(options.hal) if options.hal else versions.NEWEST
    except ValueError as error:
        raise UsageError(f"--hal: {error}") from None
    try:
        written = kit.write(options.folder, version)
    except OSError as error:
        raise UsageError(f"{options.folder}: cannot write the kit: {error.strerror}") from None
    print("\n".join(map(str, written)))
    return OK
