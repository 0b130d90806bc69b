"""Rules of LSH_PROJECTION: bits of hashes of rows."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general
from npu_conformance.specs.versions import Version

_MOST_BITS = 32
_DEPRECATED, _DENSE, _SPARSE = 1, 2, 3


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    hashes, kind = view.dimensions("hash"), view.integer("type")
    if kind is None:
        return (None,)
    if hashes is None or len(hashes) != 2:
        return ((None,),)
    count, bits = hashes
    if kind != _DENSE:
        return ((count,),)
    return ((None if count is None or bits is None else count * bits,),)


def _bits(view: OperationView) -> str | None:
    hashes = view.dimensions("hash") or ()
    wide = len(hashes) == 2 and hashes[1] is not None and hashes[1] > _MOST_BITS
    return f"hash has {hashes[1]} columns, expected {_MOST_BITS} at most" if wide else None


def _kind(view: OperationView) -> str | None:
    kind = view.integer("type")
    if kind is None or kind in (_DEPRECATED, _DENSE, _SPARSE):
        return None
    return f"type {kind} is none of 1 (SPARSE_DEPRECATED), 2 (DENSE) and 3 (SPARSE)"


def _late_kind(view: OperationView) -> str | None:
    is_late = view.integer("type") == _SPARSE and view.version < Version.V1_2
    return f"type 3 (SPARSE) needs HAL 1.2, not {view.version}" if is_late else None


def _weights(view: OperationView) -> str | None:
    weights, rows = view.dimensions("weight"), view.dimensions("input")
    if not weights or not rows or None in (weights[0], rows[0]) or weights[0] == rows[0]:
        return None
    return f"{weights[0]} weights for {rows[0]} rows"


def _presence(view: OperationView) -> str | None:
    kind, is_given = view.integer("type"), view.is_given("weight")
    if kind is None or is_given is None or is_given == (kind == _DENSE):
        return None
    return f"type {kind} {'with' if is_given else 'without'} weights"


RULES = rules(
    "LSH_PROJECTION",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The hash has 32 columns at most.", _bits),
    clause("C3", "execution", "The type is 1 (SPARSE_DEPRECATED), 2 (DENSE) or 3 (SPARSE).", _kind),
    clause("C4", "execution", "Type 3 needs HAL 1.2.", _late_kind, "text"),
    clause("C5", "execution", "There is a weight for each row of the input.", _weights),
    clause("C6", "execution", "A dense projection has weights, a sparse one has none.", _presence, "reference"),
    general.empty("C7"),
    general.declared_outputs("C8", _output_shapes),
)
