"""Faults of the NNAPI runtime: source edits of the reference's, by what of it they are about.

They were written from the requirements, without a look at the cases that have to catch them. Those at the boundary were
written for the cases of the API (`boundary`) and of models on their way through it (`flows`).
"""

from __future__ import annotations

from pathlib import Path

from npu_conformance.faults import source_edits
from npu_conformance.faults.factories import edited_fault
from npu_conformance.faults.fault import Fault
from npu_conformance.faults.runtime import boundary, conforming, flow_variants, flows
from npu_conformance.faults.runtime.subject import edited_runtime
from npu_conformance.faults.source_edits import EditedFault

_FOLDER = Path(__file__).parent


def _fault(row: EditedFault) -> Fault:
    return edited_fault(row, edited_runtime(row.edits, row.hal))


FAULTS = [
    *(_fault(row) for path in sorted(_FOLDER.glob("*.json")) for row in source_edits.read(path)),
    *boundary.FAULTS,
    *flows.FAULTS,
]
"""Every fault of the files beside this one. hal: of an entry the runtime's feature level."""
VARIANTS = (*conforming.VARIANTS, *flow_variants.VARIANTS)
