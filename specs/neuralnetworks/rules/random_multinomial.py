"""Rules of RANDOM_MULTINOMIAL: classes drawn for each row of logits."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general

_SEEDS = 2


def _output_shapes(view: OperationView) -> Shapes:
    logits, count = view.dimensions("logits"), view.integer("num_samples")
    if logits is None or count is None or count < 0:
        return (None,)
    return ((*logits[:1], count),)


def _count(view: OperationView) -> str | None:
    count = view.integer("num_samples")
    return f"{count} samples, expected 1 or more" if count is not None and count <= 0 else None


def _seeds(view: OperationView) -> str | None:
    seeds = view.dimensions("seeds") or ()
    wrong = [size for size in seeds[:1] if size is not None and size != _SEEDS]
    return f"{wrong[0]} seeds, expected {_SEEDS}" if wrong else None


RULES = rules(
    "RANDOM_MULTINOMIAL",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The number of samples is greater than 0.", _count),
    clause("C3", "execution", "There are two seeds.", _seeds, "text"),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    text_alone=("C1",),
)
