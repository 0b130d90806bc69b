"""Runs `cmd npu` against a running manager, with its words, its text and its exit code."""

from __future__ import annotations

import argparse

from npu_conformance.cli.npu.connect import manager_as, reached, told_of
from npu_conformance.specs.diagnostics.stacks import printable
from npu_conformance.specs.npu.types import ROOT_UID, SHELL_UID


def execute(options: argparse.Namespace) -> int:
    """Print what the manager answers; its exit code is ours. WRONG where it gives none."""
    return told_of(options.address, lambda: _told(options))


def _told(options: argparse.Namespace) -> int:
    with reached(options.address, options.key_file) as subject:
        uid = ROOT_UID if options.root else SHELL_UID
        result = manager_as(subject, uid).shell_command(tuple(options.words))
    print(printable(result.output), end="")
    return result.exit_code
