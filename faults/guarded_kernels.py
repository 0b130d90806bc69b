"""Guarded fallbacks: operations that are wrong where shapes, parameters or quantisation choose one kernel of several.

The guards, in guarded_kernels.json, are those of real drivers: XNNPACK, TFLite's optimised kernels, Arm Compute Library
and Hexagon NN choose by filter, stride, channels, axes, permutations, broadcasts and scales.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from npu_conformance.faults import kernel_guards
from npu_conformance.faults.fault import Edited, Fault
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.neuralnetworks.enums import OperationType

FILE = Path(__file__).with_suffix(".json")
_EXECUTOR = "reference.device.executor"
_CALL = "results = kernel(operation.type)(inputs, infos)"


class Row(Document, frozen=True):
    """One guarded fallback. when: the guard in words; guard: an expression over `o`, a `kernel_guards.Met`.

    effect: a function of `kernel_guards`. caught_by: by default the drawn models of the operation.
    """

    operation: str
    name: str
    when: str
    guard: str
    effect: str
    caught_by: tuple[str, ...] = ()


class RowFile(Document, frozen=True):
    """The content of guarded_kernels.json."""

    rows: tuple[Row, ...]


def _fault(row: Row) -> Fault:
    lines = (
        _CALL,
        f"if operation.type == {int(OperationType[row.operation])}:",
        "    from npu_conformance.faults import kernel_guards",
        "    o = kernel_guards.Met(self._view(operation, values), results, infos)",
        f"    if {row.guard}:",
        f"        results = [kernel_guards.{row.effect}(result) if result.ndim and result.size else result",
        "                   for result in results]",
    )
    edit = SourceEdit(_EXECUTOR, "_GraphExecutor._execute", _CALL, "\n".join(lines))
    return Fault(
        f"guarded-{row.operation.lower().replace('_', '-')}-{row.name}",
        f"{row.operation} with {row.when}: {inspect.getdoc(getattr(kernel_guards, row.effect))}.",
        (f"NNHAL-OPERATION-{row.operation}-RESULT",),
        row.caught_by or (f"vts.drawn.{row.operation}.*",),
        Edited((edit,)),
    )


ROWS = documents.read(FILE, RowFile).rows
FAULTS = tuple(map(_fault, ROWS))
"""Faults that one guard each hides."""
