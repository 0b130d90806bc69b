"""`npu-conformance plugins`: the plug-ins that are installed."""

from __future__ import annotations

import argparse

from npu_conformance.cli.commands._output import print_json
from npu_conformance.harness.judge.outcome_table import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(options: argparse.Namespace) -> int:
    """Print names and where each comes from, importing none of them."""
    from npu_conformance.harness.subject.plugin_loading import installed

    found = installed()
    if options.json:
        print_json(found)
        return OK
    width = max(map(len, found))
    for name, target in sorted(found.items()):
        print(f"{name:<{width}}  {target}")
    print("also: package.module:name, PATH.so, unix:PATH, tcp:HOST:PORT, exec:COMMAND, stacked:P, shim:P")
    return OK
