"""Rules of ECHO_PARAMETERS: length and checksum of the parameters of an operand, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    return ((2,),)


def _check_parameters(view: OperationView) -> str | None:
    extra = view.inputs[0].extra_params
    return "there are none, not even of 0 bytes" if extra is None or extra.extension is None else None


RULES = rules(
    "ECHO_PARAMETERS",
    _output_shapes,
    clause("C1", "model", "The input has parameters; they may have 0 bytes.", _check_parameters),
    general.declared_outputs("C2", _output_shapes),
)
