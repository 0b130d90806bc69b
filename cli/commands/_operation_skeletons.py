"""The skeletons of an operation's files: each says what goes there, and fails until it is filled.

`$NAME` is the operation's name, `$name` that of its files, `$function` that of its functions.
"""

from __future__ import annotations

TABLE = """\
{"name": "$NAME", "code": "its number in OperationType", "since": "the version that brought it, such as 1.3",
 "signatures": [
  {"variant": "default", "input_counts": ["how many inputs there may be"],
   "types": {
    "the version that brought them": [{"T": "the type that T stands for, such as TENSOR_FLOAT32"}]},
   "inputs": [
    {"name": "input", "type": "T", "rank": ["how many dimensions it may have"]}
   ],
   "outputs": [
    {"name": "output", "type": "T", "quantization": "its scale and zero point, in words"}
   ]}
 ]}
"""
RULES = '''\
"""Rules of $NAME: say here in one line what it does."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, rules
from npu_conformance.specs.neuralnetworks.rules.common import general


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    """Say here in words which shape each output has: None where the rank, or whether the inputs fit, is not known."""
    raise NotImplementedError("$NAME: the shapes of its outputs")


# A clause for each rule of the definition, see rules/clause.py and rules/common; their numbers are never used again.
RULES = rules(
    "$NAME",
    _output_shapes,
    general.declared_outputs("C1", _output_shapes),
)
'''
ORACLE = '''\
"""$NAME: say here in one line what it computes."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result


def $function(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Say here which inputs there are, and the formula. Plain loops over exact numbers; do not look at the kernel."""
    raise NotImplementedError("$NAME: its expected values")
'''
GENERATOR = '''\
"""The generator of $NAME."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.vectors import Vector


def vectors() -> Iterator[Vector]:
    """Say here what they cover: every type, parameters pairwise, each hazard, and a rejection for each clause.

    They are made with `positive` and `rejected` of corpus/generators/base.py; hazards are those of corpus/hazards.json.
    """
    raise NotImplementedError("$NAME: its vectors")
'''
KERNEL = '''\
"""$NAME."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor


def $function(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """Say here the formula, which is written in numpy."""
    raise NotImplementedError("$NAME: its kernel")
'''
FAULTS = """\
{"faults": [
  {"id": "$dashed-the-mistake", "description": "$NAME makes this realistic mistake.", "breaks": ["NNHAL-OPERATION-$NAME-RESULT"], "caught_by": ["vts.generated.$NAME.the_vectors_that_notice_it"],
   "edits": [
    {"module": "reference.device.kernels.$name", "function": "$function", "find": "a text that occurs exactly once in the kernel", "replace": "the same text with the mistake"}]}
]}
"""  # noqa: E501
