"""Rules of LSH_PROJECTION: bits of hashes of rows."""

from collections.abc import Sequence
from math import prod

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general
from npu_conformance.specs.versions import Version

_MOST_BITS = 32
_DEPRECATED, _DENSE, _SPARSE = _TYPES = 1, 2, 3


def _output_shapes(view: OperationView) -> Shapes:
    hashes, kind = view.dimensions("hash"), view.integer("type")
    if hashes is None or kind not in _TYPES:
        return (None,)
    sizes = hashes if kind == _DENSE else hashes[:1]
    return ((_product(sizes),),)


def _product(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return prod(known) if len(known) == len(sizes) else None


def _bits(view: OperationView) -> str | None:
    hashes = view.dimensions("hash") or ()
    widths = [width for width in hashes[1:] if width is not None and width > _MOST_BITS]
    return f"hash has {widths[0]} columns, expected {_MOST_BITS} at most" if widths else None


def _kind(view: OperationView) -> str | None:
    kind = view.integer("type")
    if kind is None or kind in _TYPES:
        return None
    return f"type {kind} is none of 1 (SPARSE_DEPRECATED), 2 (DENSE) and 3 (SPARSE)"


def _late_kind(view: OperationView) -> str | None:
    is_late = view.integer("type") == _SPARSE and view.version < Version.V1_2
    return f"type 3 (SPARSE) needs HAL 1.2, not {view.version}" if is_late else None


def _weights(view: OperationView) -> str | None:
    shapes = view.dimensions("weight"), view.dimensions("input")
    counts = {shape[0] for shape in shapes if shape} - {None}
    return f"weights and input have dimensions {shapes}" if len(counts) > 1 else None


def _presence(view: OperationView) -> str | None:
    kind, is_given = view.integer("type"), view.is_given("weight")
    if kind not in _TYPES or is_given is None or is_given == (kind == _DENSE):
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
