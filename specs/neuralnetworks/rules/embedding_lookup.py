"""Rules of EMBEDDING_LOOKUP: rows of a table, chosen by indices."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, rows

_LOWEST_RANK = 2


def _output_shapes(view: OperationView) -> Shapes:
    return (rows.chosen(view, "lookups", "values"),)


def _rank(view: OperationView) -> str | None:
    values = view.dimensions("values")
    if values is None or len(values) >= _LOWEST_RANK:
        return None
    return f"values have rank {len(values)}, expected {_LOWEST_RANK} or more"


def _range(view: OperationView) -> str | None:
    values = view.dimensions("values")
    return rows.outside(view, "lookups", values[0] if values else None)


RULES = rules(
    "EMBEDDING_LOOKUP",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The values have two dimensions or more.", _rank),
    clause("C3", "execution", "Each lookup is the index of a row of the values; it is not negative.", _range),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as("C6", "values"),
)
