"""How the process of a round ends where it ends itself. It may also die, with any status that a subject chooses."""

from __future__ import annotations

from enum import IntEnum

from npu_conformance.harness.judge.outcome_table import OK, USAGE


class Ending(IntEnum):
    """The exit status, which counts as this only where the process has noted it beforehand (CurrentInput.end)."""

    OVER = OK
    UNLOADED = USAGE
    """The plug-in cannot be had, or not any more."""
    STOPPED = 70
    """Something was raised that belongs to no input, and is reported: EX_SOFTWARE of sysexits.h."""
    OUT_OF_MEMORY = 71
    """libFuzzer's, which says so in words instead."""
    FULL = 74
    """What has to be kept could not be: EX_IOERR of sysexits.h."""
