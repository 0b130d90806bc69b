"""What operations share that choose rows of a tensor by indices."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape


def outside(view: OperationView, name: str, count: int | None) -> str | None:
    """What is wrong with an input of indices into so many rows; nothing where either is unknown."""
    for index in view.integers(name) or ():
        if count is not None and not 0 <= index < count:
            return f"index {index} is outside of 0..{count - 1}"
    return None


def chosen(view: OperationView, indices: str, table: str) -> Shape:
    """The shape of rows of a table, one for each index; None where it is unknown."""
    lookups, values = view.dimensions(indices), view.dimensions(table)
    return None if lookups is None or values is None else (*lookups, *values[1:])
