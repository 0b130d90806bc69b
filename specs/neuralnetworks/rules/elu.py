"""Rules of ELU: max(0, x) + min(0, alpha * (exp(x) - 1)) of each element."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "ELU",
    shapes.same_as_input,
    # The documents speak of inputs without elements; Android's own implementation refuses them.
    general.empty("C1"),
    general.declared_outputs("C2", shapes.same_as_input),
)
