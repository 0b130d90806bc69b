"""Rules of CHANNEL_SHUFFLE: an axis cut into groups, whose members are interleaved."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes


def _positive(view: OperationView) -> str | None:
    groups = view.integer("num_groups")
    return f"{groups} groups must be more than 0" if groups is not None and groups < 1 else None


def _divides(view: OperationView) -> str | None:
    dimensions, axis, groups = view.dimensions("input"), view.integer("axis"), view.integer("num_groups")
    place = None if dimensions is None or axis is None else general.wrapped(axis, len(dimensions))
    if dimensions is None or place is None or not groups:
        return None
    size = dimensions[place]
    return f"{size} elements in {groups} groups" if size is not None and size % groups else None


RULES = rules(
    "CHANNEL_SHUFFLE",
    shapes.same_as_input,
    general.ranks("C1"),
    general.axis("C2", "axis", negative=True),
    clause("C3", "execution", "The number of groups is greater than 0.", _positive),
    clause("C4", "execution", "The number of groups divides the size of the axis.", _divides),
    general.empty("C5"),
    general.declared_outputs("C6", shapes.same_as_input),
    quantization.same_as_input("C7"),
    text_alone=("C1",),
)
