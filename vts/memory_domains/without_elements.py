"""Buffers whose outputs have no elements every now and then: what they held before is gone all the same."""

from __future__ import annotations

from contextlib import closing

from msgspec.structs import replace

from npu_conformance.corpus import turns
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools
from npu_conformance.harness.run.executing.executors import execute, naming_buffers
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.memory_domains.fixture import GENERAL, INVALID, NONE, BufferFixture, status_of
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.support import supports

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)

_OPERATIONS = ("RELU", "ADD", "LOGISTIC", "TANH")
_MOST_ROWS = 3


@cases.case(
    "shapes.without_elements",
    "NNHAL-MEMDOMAIN-015",
    "NNHAL-MEMDOMAIN-020",
    "NNHAL-MEMDOMAIN-033",
    since=Version.V1_3,
)
def without_elements(context: CaseContext) -> None:
    """A buffer whose last output had no rows holds none: neither those of the output before it nor any others."""
    vector = _of_some_rows(context)
    prepared_model = prepared(context, vector)
    made = BufferFixture(context, addition.FLOAT32).allocate(prepared_model, outputs=(0,))
    for executor in naming_buffers(context.version, finding_shapes=True):
        with context.configuration(executor):
            # The first example has no rows: it comes behind others.
            for turn, example in enumerate((*vector.examples[1:], *vector.examples[1:])):
                status = _execute_into(context, prepared_model, vector, example, made, executor)
                if turn < 3 and status == GENERAL:
                    raise NotSupported("the device does not execute with a buffer for outputs of some rows or none")
                checks.status(status, {NONE}, "execution into a buffer")
                _holds_rows(context, vector, example, made)


def _of_some_rows(context: CaseContext) -> Vector:
    """A vector that gives some rows of its input, or none, as output 0."""
    for operation in _OPERATIONS:
        for vector in turns.emptied(operation, context.version):
            if supports(context, vector):
                return vector
    raise NotSupported("the device supports no model whose outputs have no elements")


def _execute_into(
    context: CaseContext, model: PreparedModel, vector: Vector, example: Example, made: DeviceBuffer, executor: str
) -> int:
    """Execute with output 0 in the buffer; returns the status."""
    request, _ = in_pools(context, build_request(vector, example, context.version))
    output = RequestArgument(location=DataLocation(len(request.pools)))
    pools = (*request.pools, RequestMemoryPool(token=made.token))
    request = replace(request, outputs=(output, *request.outputs[1:]), pools=pools)
    return execute(context, model, request, measure=False, executor=executor).status


def _holds_rows(context: CaseContext, vector: Vector, example: Example, made: DeviceBuffer) -> None:
    """See a buffer be copied out with the rows of the example, and with no other number of rows."""
    import numpy

    name = vector.outputs[0]
    rows = example.outputs[name]
    for count in range(1, _MOST_ROWS + 1):
        with closing(context.pool(count * rows.itemsize * rows.shape[1])) as copy:
            status = status_of(lambda: made.buffer.copy_to(copy.memory))
            if count != len(rows):
                # Whether a buffer of nothing counts as without content is not said.
                refusals = {INVALID} if len(rows) else {INVALID, GENERAL}
                checks.status(status, refusals, f"copyTo of {count} rows where the last output has {len(rows)}")
                continue
            checks.status(status, {NONE}, f"copyTo of {count} rows")
            found = numpy.frombuffer(copy.read(0, rows.nbytes), rows.dtype).reshape(rows.shape)
            judge(context, vector, example, {**example.outputs, name: found})
