"""A scheduling HAL whose manifest names a command for its test inferences, given by the option `tool`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from npu_conformance.faults.npu_scheduling.shapes import through_a_tool
from npu_conformance.specs.manifest import Deadlines, InferenceTool, Manifest
from npu_conformance.specs.plugin import Plugin


def _manifest(options: Mapping[str, str]) -> Manifest:
    tool = InferenceTool(tuple(shlex.split(options["tool"])), uid=0)
    return Manifest(
        name="tool",
        vendor="v",
        version="1",
        interfaces=("scheduling",),
        options={"tool": "a command"},
        inference_tool=tool,
        time_scale=0.05,
        deadlines=Deadlines(200, 100, 100, 600),
    )


plugin = Plugin(_manifest, through_a_tool)
"""Runs are given up after a twentieth of the usual time: nothing is reported of them."""
