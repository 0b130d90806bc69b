"""What operations share that pad their input."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Shapes, clause
from npu_conformance.specs.versions import Version


def padded(view: OperationView) -> Shapes:
    """The output has the input's sizes plus the paddings before and after."""
    dimensions, paddings = view.dimensions("input"), view.integers("paddings")
    if dimensions is None:
        return (None,)
    if paddings is None or len(paddings) != 2 * len(dimensions):
        return ((None,) * len(dimensions),)
    pairs = zip(dimensions, paddings[::2], paddings[1::2], strict=True)
    return (tuple(None if size is None else size + before + after for size, before, after in pairs),)


def paddings_shape(number: str) -> Clause:
    """The clause about the shape of the paddings."""
    return clause(number, "execution", "The paddings have the shape [rank of the input, 2].", _check_shape)


def not_negative(number: str) -> Clause:
    """The clause about the values of the paddings."""
    return clause(number, "execution", "No padding is negative.", _check_values)


def zero_point(number: str) -> Clause:
    """The clause about zero points, with which real zeros were not padded before 1.2."""
    return clause(number, "model", "Before 1.2 the zero point is 0.", _check_zero_point)


def _check_shape(view: OperationView) -> str | None:
    dimensions, shape = view.dimensions("input"), view.dimensions("paddings")
    if shape is None:
        return None
    rank = None if dimensions is None else len(dimensions)
    wrong_rows = rank is not None and shape[0] not in (None, rank)
    if len(shape) == 2 and not wrong_rows and shape[1] in (None, 2):
        return None
    return f"paddings have dimensions {list(shape)}, expected [{'rank' if rank is None else rank}, 2]"


def _check_values(view: OperationView) -> str | None:
    paddings = view.integers("paddings")
    return f"paddings {list(paddings)} are negative" if paddings and min(paddings) < 0 else None


def _check_zero_point(view: OperationView) -> str | None:
    found = view.operand("input").zero_point
    if found == 0 or view.version >= Version.V1_2:
        return None
    return f"zero point {found} needs HAL 1.2, not {view.version}"
