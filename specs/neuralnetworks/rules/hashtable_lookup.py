"""Rules of HASHTABLE_LOOKUP: rows of a table, chosen by keys. A table of one dimension is a list of single elements."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, rows


def _output_shapes(view: OperationView) -> Shapes:
    return (rows.chosen(view, "lookups", "values"), view.dimensions("lookups"))


def _length(view: OperationView) -> str | None:
    shapes = view.dimensions("keys"), view.dimensions("values")
    counts = {shape[0] for shape in shapes if shape} - {None}
    return f"keys and values have dimensions {shapes}" if len(counts) > 1 else None


def _order(view: OperationView) -> str | None:
    keys = view.integers("keys")
    return f"keys {list(keys)} do not ascend" if keys is not None and sorted(keys) != list(keys) else None


def _hits(view: OperationView) -> str | None:
    hits = view.outputs[1]
    if (hits.scale, hits.zero_point) == (1.0, 0):
        return None
    return f"hits have scale {hits.scale} and zero point {hits.zero_point}, expected 1.0 and 0"


RULES = rules(
    "HASHTABLE_LOOKUP",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "There are as many keys as rows of the values.", _length),
    clause("C3", "execution", "The keys ascend.", _order, "text"),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as("C6", "values"),
    clause("C7", "model", "The hits have scale 1 and zero point 0.", _hits),
    text_alone=("C2",),
)
