"""The graphs of IF: which of their operations are supported, and the sizes that they give."""

from __future__ import annotations

import itertools

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.neuralnetworks.enums import (
    ErrorStatus,
    OperationType,
)
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare
from npu_conformance.vts.lib.structure_models import (
    BRANCHES,
    EXTENSION,
    MAPPING,
    graph,
    reference,
    with_operand,
    within,
)

cases = CaseGroup("vts.control_flow", group=Group.EXECUTION)

_POOL = 64


@cases.case("IF.operations_of_branches", "NNHAL-SUPPORT-007", "NNHAL-PREPARE-004", since=Version.V1_3)
def operations_of_branches(context: CaseContext) -> None:
    """IF is not supported where a branch has an operation that the device does not support."""
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            model = _with_foreign_branch(number)
            checks.equal(context.supported_operations(model), (False,), f"support of IF with a foreign {name} branch")
            preparation = context.prepare(model)
            is_rejected = preparation.status != ErrorStatus.NONE and preparation.prepared_model is None
            checks.that(
                is_rejected, "prepareModel of an operation that is not supported: expected a failure, found NONE"
            )


@cases.case("IF.operations_of_nested_branches", "NNHAL-SUPPORT-007", since=Version.V1_3)
def operations_of_nested_branches(context: CaseContext) -> None:
    """IF is not supported where a branch has another IF with an operation that the device does not support."""
    for outer, inner in itertools.product(range(2), repeat=2):
        with context.configuration("_in_".join(("then", "else")[number] for number in (inner, outer))):
            model = _nested(_with_foreign_branch(inner), outer)
            checks.equal(context.supported_operations(model), (False,), "support of IF around a foreign operation")


@cases.case("IF.operations_of_shared_branches", "NNHAL-SUPPORT-007", "NNHAL-CONTROLFLOW-003", since=Version.V1_3)
def operations_of_shared_branches(context: CaseContext) -> None:
    """Neither of two IFs is supported that have a branch in common with an operation that is not supported."""
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            model = _with_two_ifs(_with_foreign_branch(number))
            what = f"support of two IFs with one foreign {name} branch"
            checks.equal(context.supported_operations(model), (False, False), what)


@cases.case("IF.branches_of_the_next_model", "NNHAL-CONTROLFLOW-001", "NNHAL-SUPPORT-003", since=Version.V1_3)
def branches_of_the_next_model(context: CaseContext) -> None:
    """A model whose main graph is that of the one before is judged by its own branches: the broken one is rejected."""
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            context.supported_operations(BRANCHES)
            context.prepare(BRANCHES)
            expect_rejected_at_prepare(context, within(BRANCHES, number, 1, dimensions=(-2,)))


@cases.case("IF.support_of_another_model", "NNHAL-SUPPORT-005", "NNHAL-PREPARE-004", since=Version.V1_3)
def support_of_another_model(context: CaseContext) -> None:
    """A supported model is prepared, although the last model that was asked about has its main graph and is not."""
    if not all(context.supported_operations(BRANCHES)):
        raise NotSupported("IF of ADD and RELU is not supported")
    for number, name in enumerate(("then", "else")):
        with context.configuration(name):
            context.supported_operations(_with_foreign_branch(number))
            model_of(context.prepare(BRANCHES), "prepareModel of a supported IF, notified")


@cases.case("IF.output_of_another_size", "NNHAL-CONTROLFLOW-005", since=Version.V1_3)
def output_of_another_size(context: CaseContext) -> None:
    """An execution fails where a branch gives another size than the one that is declared for the output."""
    status = _status_with_open_branches(context, 2)
    if status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute branches that leave sizes open")
    checks.status(status, {ErrorStatus.NONE}, "execution of IF that declares the size that its branch gives")
    status = _status_with_open_branches(context, 3)
    what = "execution of IF that declares 3 elements, with a branch that gives 2: expected a failure, found NONE"
    checks.that(status != ErrorStatus.NONE, what)


def _status_with_open_branches(context: CaseContext, size: int) -> int:
    """Execute IF of two elements whose output is declared with this size; what it ends with."""
    prepared_model, pool = prepared_or_unsupported(context, _with_open_branches(size)), context.pool(_POOL)
    pool.write(0, bytes([1]))
    condition, data, output = (
        RequestArgument(location=DataLocation(0, offset, length))
        for offset, length in ((0, 1), (16, 8), (32, 4 * size))
    )
    request = Request((condition, data), (output,), (RequestMemoryPool(pool=pool.memory),))
    return execute(context, prepared_model, request, measure=False).status


def _with_foreign_branch(number: int) -> Model:
    """IF with an operation of an extension that no device has in one of its branches."""
    branches = list(BRANCHES.referenced)
    operation = replace(branches[number].operations[0], type=EXTENSION)
    branches[number] = replace(branches[number], operations=(operation,))
    return replace(BRANCHES, referenced=tuple(branches), extension_name_to_prefix=MAPPING)


def _with_two_ifs(model: Model) -> Model:
    """The IF of a model twice, side by side, over the same branches."""
    operands = model.main.operands
    (one,) = model.main.operations
    return replace(
        model,
        main=graph([*operands, *operands[3:]], [one, replace(one, inputs=(0, 1, 2, 5), outputs=(6,))]),
    )


def _nested(model: Model, number: int) -> Model:
    """The IF of a model in one branch of another IF, whose own condition is an input of both branches."""
    inner = model.main
    other = graph([*inner.operands[:1], *inner.operands[3:]], [Operation(OperationType.RELU, (1,), (2,))])
    branches = (inner, other) if number == 0 else (other, inner)
    operands = [inner.operands[0], reference(2), reference(3), *inner.operands[3:]]
    outer = graph(operands, [Operation(OperationType.IF, (0, 1, 2, 0, 3), (4,))])
    return replace(model, main=outer, referenced=(*model.referenced, *branches))


def _with_open_branches(size: int) -> Model:
    """IF of two elements whose branches leave the size open, with an output of another size."""
    model = with_operand(BRANCHES, 4, dimensions=(size,))
    for branch, operand in itertools.product(range(2), repeat=2):
        model = within(model, branch, operand, dimensions=(0,))
    return model
