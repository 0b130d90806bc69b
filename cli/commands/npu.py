"""`npu-conformance npu`: shows apps that share an NPU, simulated or real, and a running manager."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Protocol

from npu_conformance.cli.commands import _npu_simulate


class _Chosen(Protocol):
    """One of the commands below `npu`."""

    def execute(self, options: argparse.Namespace) -> int:
        """Execute it, and return the exit code."""
        ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    commands = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    _add_demo(commands.add_parser("demo", help="a foreground app takes the NPU over from a background one"))
    top = commands.add_parser("top", help="apps, priorities, models, budget and work of a running manager")
    _add_address(top)
    top.add_argument("--once", action="store_true", help="print one table instead of one each second until interrupted")
    shell = commands.add_parser("shell", help="run `cmd npu` and print its output (usage without arguments)")
    _add_address(shell)
    shell.add_argument(
        "--root", action="store_true", help="run as root instead of as the shell: disable and enable need it"
    )
    shell.add_argument(
        "words", metavar="WORD", nargs="*", help="arguments of `cmd npu`, such as info or set-budget-policy"
    )
    _npu_simulate.add_arguments(
        commands.add_parser("simulate", help="waiting times, preemptions and fairness of many apps, policy by policy")
    )


def execute(options: argparse.Namespace) -> int:
    """Run; return WRONG where something is not as it has to be, or the manager refuses."""
    return _chosen(options.what).execute(options)


def _chosen(name: str) -> _Chosen:
    """Return the module of a command. Each has imports of its own: the table need not wait for the simulator."""
    if name == "demo":
        from npu_conformance.cli.commands import _npu_demo

        return _npu_demo
    if name == "top":
        from npu_conformance.cli.npu import top

        return top
    if name == "shell":
        from npu_conformance.cli.npu import shell

        return shell
    return _npu_simulate


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plugin", metavar="P", default="reference", help="driver and manager (default: reference)")
    parser.add_argument(
        "--plugin-option", metavar="NAME=VALUE", action="append", default=[], help="option of the plug-in; repeatable"
    )
    parser.add_argument("--listen", metavar="unix:PATH", help="where the manager listens, for `npu top` meanwhile")
    parser.add_argument("--inferences", metavar="N", type=int, default=50, help="inferences in each step (default: 50)")
    parser.add_argument(
        "--seconds", metavar="S", type=float, default=60.0, help="most seconds that a step may take (default: 60)"
    )
    parser.add_argument("--trace", metavar="FILE", type=Path, help="write a timeline for Perfetto or chrome://tracing")


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="unix:PATH or tcp:HOST:PORT of `npu-conformance serve`")
    parser.add_argument("--key-file", metavar="FILE", help="file with the key of the control connection")
