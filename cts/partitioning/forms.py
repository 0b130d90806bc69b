"""Forms of IF and WHILE that are not the usual ones, for any runtime: by default, in every way that computes models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from npu_conformance.corpus.vector_types import Example
from npu_conformance.cts.lib.runtime.control_flow_nets import (
    flow_in_branch,
    if_net,
    ifs_of_the_same_numbers,
    opened_inside,
    two_loops,
    while_net,
    while_of_hidden_counter,
    while_of_hidden_matrix,
)
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.vector_run import run
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.forms", interface="runtime", since=Version.V1_3)

_ROUNDS = (0, 1, 3)
_TRUTH = ({0: 1}, {0: 0})


def _runs(context: CaseContext, net: Net, firsts: Sequence[Mapping[int, int]]) -> None:
    """Run a net as vectors are run, with what the oracles find. firsts: values of inputs, by their place."""
    import numpy

    examples = []
    for first in firsts:
        inputs = dict(net.inputs)
        for place, value in first.items():
            name = net.vector.inputs[place]
            inputs[name] = numpy.full_like(inputs[name], value)
        examples.append(Example(inputs, net.expected_of(inputs)))
    run(context, replace(net.vector, examples=tuple(examples)))


@cases.case("hidden_matrix", "FW-GEN-001", "FW-PRT-006")
def hidden_matrix(context: CaseContext) -> None:
    """A WHILE does not give a matrix that its rounds hand on."""
    _runs(context, while_of_hidden_matrix(), [{0: 0, 3: rounds} for rounds in _ROUNDS])


@cases.case("hidden_counter", "FW-GEN-001", "FW-PRT-006")
def hidden_counter(context: CaseContext) -> None:
    """A WHILE does not give its counter."""
    _runs(context, while_of_hidden_counter(), [{1: 0, 2: rounds} for rounds in _ROUNDS])


@cases.case("two_loops", "FW-GEN-001", "FW-PRT-006")
def loops(context: CaseContext) -> None:
    """Two WHILEs of the same graphs, one behind the other."""
    _runs(context, two_loops("MUL"), [{0: 0, 2: rounds} for rounds in _ROUNDS])


@cases.case("same_numbers", "FW-GEN-001", "FW-PRT-006")
def same_numbers(context: CaseContext) -> None:
    """IF in IF, whose operands have the same numbers."""
    _runs(context, ifs_of_the_same_numbers(), _TRUTH)


@cases.case("open_body", "FW-GEN-001", "FW-PRT-006")
def open_body(context: CaseContext) -> None:
    """A WHILE of known sizes whose body does not say how many rows it gives."""
    _runs(context, opened_inside(while_net(("ADD", "MUL")), 1, "outputs"), [{0: 0, 2: rounds} for rounds in _ROUNDS])


@cases.case("open_body_in_a_branch", "FW-GEN-001", "FW-PRT-006")
def open_body_in_a_branch(context: CaseContext) -> None:
    """Such a WHILE in a branch."""
    net = flow_in_branch(opened_inside(while_net(("ADD", "MUL")), 1, "outputs"))
    _runs(context, net, [{0: truth, 1: 0, 3: 3} for truth in (1, 0)])


@cases.case("open_branch", "FW-GEN-001", "FW-PRT-006")
def open_branch(context: CaseContext) -> None:
    """An IF of known sizes of which one branch does not say how many rows it gives."""
    _runs(context, opened_inside(if_net(("ADD", "MUL"), ("MUL", "ADD")), 0, "outputs"), _TRUTH)
