"""Rules of MIRROR_PAD: mirror images before and after each dimension."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, padding, quantization

_REFLECT, _SYMMETRIC = 0, 1


def _mode(view: OperationView) -> str | None:
    mode = view.integer("mode")
    return None if mode in (None, _REFLECT, _SYMMETRIC) else f"mode {mode} is neither 0 nor 1"


def _limits(view: OperationView) -> str | None:
    dimensions, paddings, mode = view.dimensions("input"), view.integers("paddings"), view.integer("mode")
    if dimensions is None or paddings is None or len(paddings) != 2 * len(dimensions):
        return None
    if mode not in (_REFLECT, _SYMMETRIC):
        return None
    for size, *pair in zip(dimensions, paddings[::2], paddings[1::2], strict=True):
        most = None if size is None else size - 1 if mode == _REFLECT else size
        if most is not None and max(pair) > most:
            return f"paddings {pair} of a dimension of {size} in mode {mode} must not be greater than {most}"
    return None


RULES = rules(
    "MIRROR_PAD",
    padding.padded,
    padding.paddings_shape("C1"),
    padding.not_negative("C2"),
    clause("C3", "execution", "No padding is greater than its dimension, with mode REFLECT less one.", _limits),
    clause("C4", "execution", "The mode is 0 (REFLECT) or 1 (SYMMETRIC).", _mode),
    general.empty("C5"),
    general.declared_outputs("C6", padding.padded),
    quantization.same_as_input("C7"),
)
