"""Rules of BATCH_MATMUL: matrices in the last two dimensions, as many of them in both inputs."""

from typing import NamedTuple

from npu_conformance.specs.neuralnetworks.operation_view import Dimensions, OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

_LOWEST_RANK = 2


class _Matrices(NamedTuple):
    """An input as the product sees it; None where a size is unknown."""

    batch: Dimensions
    rows: int | None
    columns: int | None


def _output_shapes(view: OperationView) -> Shapes:
    first, second = _factors(view)
    if first is None:
        return (None,)
    return ((*first.batch, first.rows, second.columns if second else None),)


def _factors(view: OperationView) -> tuple[_Matrices | None, _Matrices | None]:
    """Both inputs, None where a rank is unknown."""
    return _matrices(view, "a", "adj_x"), _matrices(view, "b", "adj_y")


def _matrices(view: OperationView, name: str, flag: str) -> _Matrices | None:
    dimensions, turned = view.dimensions(name), view.integer(flag)
    if dimensions is None or len(dimensions) < _LOWEST_RANK:
        return None
    *batch, rows, columns = dimensions
    if turned is None:
        return _Matrices(tuple(batch), None, None)
    return _Matrices(tuple(batch), columns, rows) if turned else _Matrices(tuple(batch), rows, columns)


def _ranks(view: OperationView) -> str | None:
    first, second = _factors(view)
    if first is None or second is None or len(first.batch) == len(second.batch):
        return None
    return f"batches {list(first.batch)} and {list(second.batch)} have different ranks"


def _inner(view: OperationView) -> str | None:
    first, second = _factors(view)
    if first is None or second is None or not shapes.differ(first.columns, second.rows):
        return None
    return f"{first.columns} columns meet {second.rows} rows"


def _batches(view: OperationView) -> str | None:
    first, second = _factors(view)
    if first is None or second is None or not any(map(shapes.differ, first.batch, second.batch)):
        return None
    return f"batches {list(first.batch)} and {list(second.batch)} differ"


RULES = rules(
    "BATCH_MATMUL",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "Both inputs have the same rank.", _ranks),
    clause("C3", "execution", "The first matrix has as many columns as the second rows, transposed or not.", _inner),
    clause("C4", "execution", "Both inputs have the same batch dimensions.", _batches, "text"),
    general.empty("C5"),
    general.declared_outputs("C6", _output_shapes),
)
