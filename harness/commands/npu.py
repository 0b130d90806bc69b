"""`npu-conformance npu`: tools around the NPU Manager and the npu scheduling HAL."""

from __future__ import annotations

import argparse
import importlib

# Name and one line of help of each sub-command; its file is _npu_NAME.py beside this one, with the same two functions.
SUBCOMMANDS = {
    "simulate": "let many apps compete on a virtual clock: waiting times, preemptions and fairness of each policy",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    commands = parser.add_subparsers(metavar="SUBCOMMAND", required=True)
    for name, summary in SUBCOMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        module = importlib.import_module(f"npu_conformance.harness.commands._npu_{name}")
        module.add_arguments(command)
        command.set_defaults(execute_npu=module.execute)


def execute(options: argparse.Namespace) -> int:
    """Run the sub-command."""
    return int(options.execute_npu(options))
