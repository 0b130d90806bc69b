"""How many output shapes an execution has to report."""

from __future__ import annotations

from npu_conformance.harness.judge import checks


def check_shape_count(found: int, outputs: int, *, specified: bool, what: str = "number of output shapes") -> None:
    """Fail unless there is a shape for each output, or none at all where all are specified (NNHAL-SHAPE-001, -002)."""
    if found or not specified:
        checks.equal(found, outputs, what)
