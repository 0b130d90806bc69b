"""A request over pools of its own, whose data is written anew for each execution, as a client binds it once."""

from __future__ import annotations

from msgspec import Struct

from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import BuiltRequest, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL, judge
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.types import Request, RequestMemoryPool


class BoundRequest(Struct, frozen=True):
    """The places of the arguments, which are the same whatever the pools hold; made by `bound_request`."""

    vector: Vector
    built: BuiltRequest
    inputs: Pool
    outputs: Pool

    @property
    def request(self) -> Request:
        """The request of every execution."""
        pools = (RequestMemoryPool(pool=self.inputs.memory), RequestMemoryPool(pool=self.outputs.memory))
        return self.built.request(*pools)

    def put(self, context: CaseContext, example: Example) -> None:
        """Write the inputs of an example, and fill the outputs with what no execution has left."""
        self.inputs.write(0, build_request(self.vector, example, context.version).input_data)
        self.outputs.write(0, bytes([FILL]) * self.built.output_size)

    def check(self, context: CaseContext, example: Example, execution: Execution, what: str) -> None:
        """Fail unless the outputs are those of the example, in their shapes."""
        has_shapes(self.vector, example, execution, what)
        content = self.outputs.read(0, self.built.output_size)
        with checks.telling(lambda: what):
            judge(context, self.vector, example, self.built.read_like(example, content))


def bound_request(context: CaseContext, vector: Vector, largest: Example) -> BoundRequest:
    """largest: an example with as much room as any has."""
    built = build_request(vector, largest, context.version)
    return BoundRequest(vector, built, context.pool(len(built.input_data)), context.pool(built.output_size))


@checks.about("NNHAL-SHAPE-002")
def has_shapes(vector: Vector, example: Example, execution: Execution, what: str) -> None:
    """The right shapes are reported; of outputs that the model specifies fully there may be none."""
    if execution.output_shapes or any(vector.operands[name].is_open for name in vector.outputs):
        expected = [example.outputs[name].shape for name in vector.outputs]
        checks.equal([one.dimensions for one in execution.output_shapes], expected, f"shapes of the outputs, {what}")
