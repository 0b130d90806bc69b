"""What a version brought is rejected by every version before it: an operation, a type for it, or further inputs.

A driver does not strip trailing inputs that have their defaults, as a framework does: they make a model too new for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.operand_types import operand_type
from npu_conformance.specs.versions import OLDEST, Version
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare

_REQUIREMENTS = ("NNHAL-MODEL-006", "NNHAL-MODEL-041", "NNHAL-MODEL-044")
_BY_INPUT = {
    "nchw_layout": "NNHAL-OPERATION-001",
    "dilation_width": "NNHAL-OPERATION-003",
    "dilation_height": "NNHAL-OPERATION-003",
}
_BEFORE = {later: earlier for earlier, later in pairwise(Version)}


def cases() -> Iterator[Case]:
    """One for each operation, combination of types and number of inputs that came after HAL 1.0."""
    seen = set()
    for header in vectors.all_headers():
        if header.rejected is not None or header.operations != (header.operation,):
            continue
        inputs, outputs = _types(header)
        since = combination_since(header.operation, inputs, outputs)
        if since is not None and since > OLDEST and (header.operation, inputs, outputs) not in seen:
            seen.add((header.operation, inputs, outputs))
            yield _case(header, since)


def _of_inputs(header: VectorHeader) -> tuple[str, ...]:
    """Requirements of inputs that came with 1.2."""
    kinds = tuple(operand_type(header.operands[name].type) for name in header.arguments)
    signature = catalogue.find_signature(header.operation, kinds)
    names = {argument.name for argument in signature.inputs[: len(kinds)]} if signature else set()
    return tuple(dict.fromkeys(_BY_INPUT[name] for name in _BY_INPUT if name in names))


def _types(header: VectorHeader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    outputs = tuple(operand.type for operand in header.operands.values() if operand.role == "output")
    return tuple(header.operands[name].type for name in header.arguments), outputs


def _case(header: VectorHeader, since: Version) -> Case:
    def run(context: CaseContext) -> None:
        expect_rejected_at_prepare(
            context, build_model(vectors.load(header.operation, header.name), context.version).model
        )

    return Case(
        f"vts.versions.{header.operation}.{header.name}",
        run,
        (*_REQUIREMENTS, *_of_inputs(header)),
        f"What came with HAL {since} is rejected by every version before it.",
        until=_BEFORE[since],
        group=Group.VALIDATION,
        operations=(header.operation,),
        types=header.types,
    )
