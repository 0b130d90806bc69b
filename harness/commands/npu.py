"""`npu-conformance npu`: apps that share an NPU."""

from __future__ import annotations

import argparse
import importlib

from npu_conformance.harness.commands import _npu_simulate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    commands = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    _npu_simulate.add_arguments(
        commands.add_parser("simulate", help="waiting times, preemptions and fairness of many apps, policy by policy")
    )


def execute(options: argparse.Namespace) -> int:
    """Run; exit 1 where something is not as it has to be."""
    modules = {"simulate": "harness.commands._npu_simulate"}
    code: int = importlib.import_module(f"npu_conformance.{modules[options.what]}").execute(options)
    return code
