"""A model that keeps a device busy for a while: a long chain of additions, each on the result of the one before."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, model_of, prepare
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import (
    ErrorStatus,
    ExecutionPreference,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    NO_DEADLINE,
    DataLocation,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.vts.lib.addition import ADDITIONS, Addition, Pair
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, constant, graph, tensor

LONG, SHORT = 192, 16
"""Numbers of additions: of an execution that others meet, and of those that come and go."""
_GROWTH = 0.25
"""What two additions add up to. Every value is exact in each type of ADDITIONS, so that all devices agree."""
_ELEMENTS = 1 << 14
_UNTOUCHED = bytes([FILL])


@dataclass(frozen=True, slots=True)
class Chain:
    """start + up + down + up + ..., `additions` times; start, up and down are inputs of the model.

    No two starts have an input in common, so that values of one execution in another one show up.
    """

    addition: Addition
    additions: int

    @property
    def size(self) -> int:
        """Bytes of each tensor."""
        return _ELEMENTS * struct.calcsize(self.addition.code)

    def model(self) -> Model:
        """The model: three inputs, a temporary behind each addition but the last, an output."""
        inputs = [self._tensor(INPUT) for _ in range(3)]
        results = [*(self._tensor() for _ in range(self.additions - 1)), self._tensor(OUTPUT)]
        operands = [*inputs, constant(OperandType.INT32, (), 0, 4), *results]
        operations = [
            Operation(OperationType.ADD, (3 + number if number else 0, 1 + number % 2, 3), (4 + number,))
            for number in range(self.additions)
        ]
        return Model(graph(operands, operations), operand_values=bytes(4))

    def contents(self, start: Pair) -> bytes:
        """The three inputs and an output that is still to be written.

        start: even numbers from -20 to -2, which grow by an eighth for each addition; quantised types end below 32.
        """
        up = (start[0] / 8, start[1] / 8)
        down = (_GROWTH - up[0], _GROWTH - up[1])
        return b"".join(map(self._filled, (start, up, down))) + _UNTOUCHED * self.size

    def expected(self, start: Pair) -> bytes:
        """The output, exactly."""
        growth = self.additions // 2 * _GROWTH
        return self._filled((start[0] + growth, start[1] + growth))

    def check(self, found: bytes, start: Pair) -> None:
        """Fail unless an output is the sum: floats exactly, quantised values up to one step for each addition."""
        expected = self.expected(start)
        if not self.addition.scale:
            self.check_equal(found, expected, start)
            return
        signed = 128 if self.addition.code == "b" else 0
        pairs = zip(found, expected, strict=True)
        difference = max(abs((one + signed) % 256 - (other + signed) % 256) for one, other in pairs)
        what = f"output of {self.additions} additions is off by {difference} steps, more than one each"
        checks.that(difference <= self.additions, what)

    def check_equal(self, found: bytes, expected: bytes, start: Pair) -> None:
        """Fail unless an output is as expected, bit for bit."""
        if found == expected:
            return
        wrong = next(at for at in range(0, len(found), 8) if found[at : at + 8] != expected[at : at + 8])
        values = (self.addition.unpacked(data[wrong : wrong + 8]) for data in (expected, found))
        right, actual = map(checks.format_value, values)
        checks.fail(f"output of {self.additions} additions from {start}, byte {wrong}", right, actual)

    def request(self, pool: Pool) -> Request:
        """A request over a pool with `contents`."""
        *inputs, output = (RequestArgument(location=DataLocation(0, at * self.size, self.size)) for at in range(4))
        return Request(tuple(inputs), (output,), (RequestMemoryPool(pool=pool.memory),))

    def _tensor(self, lifetime: int | None = None) -> Operand:
        operand_type, scale, zero_point = self.addition.operand_type, self.addition.scale, self.addition.zero_point
        rest = {} if lifetime is None else {"lifetime": lifetime}
        return tensor(operand_type, (_ELEMENTS,), scale=scale, zero_point=zero_point, **rest)

    def _filled(self, values: Pair) -> bytes:
        packed = self.addition.packed(values)
        return packed * (self.size // len(packed))


class Runner:
    """A prepared chain with memory of its own, for one thread at a time.

    application: whose it is, None for ours. prepared_model: of the chain; None for one with the priority. seconds: how
    long an execution takes that nothing disturbs.
    """

    def __init__(
        self,
        context: CaseContext,
        chain: Chain,
        start: Pair,
        priority: int = Priority.MEDIUM,
        application: Application | None = None,
        prepared_model: PreparedModel | None = None,
    ) -> None:
        self.context = context
        self._chain = chain
        self._start = start
        self.prepared_model = prepared_model or _prepared(context, chain, priority, application)
        self._pool = context.pool(4 * chain.size, application=application)
        self.request = chain.request(self._pool)
        self._pool.write(0, chain.contents(start))
        self._undisturbed = b""
        self.seconds = 0.0
        self._execute_undisturbed()

    def execute(self, *, deadline: int = NO_DEADLINE, measure: bool = False, executor: str = "") -> Execution:
        """Execute over an output that is not written yet; see that a success is complete and right."""
        self.forget()
        execution = execute(
            self.context, self.prepared_model, self.request, measure=measure, deadline=deadline, executor=executor
        )
        if execution.status == ErrorStatus.NONE:
            self.check_output()
        return execution

    def forget(self) -> None:
        """Overwrite the output."""
        self._pool.write(3 * self._chain.size, _UNTOUCHED * self._chain.size)

    def output(self) -> bytes:
        """What the output holds."""
        return bytes(self._pool.read(3 * self._chain.size, self._chain.size))

    def check_output(self) -> None:
        """Fail unless the output is, bit for bit, that of an execution that nothing disturbed (NNHAL-QOS-014)."""
        with checks.about("NNHAL-QOS-014"):
            self._chain.check_equal(self.output(), self._undisturbed, self._start)

    def check_untouched(self, seconds: float, what: str) -> None:
        """Fail where the output, which was overwritten since, does not stay so for some seconds (NNHAL-EXECUTE-006)."""
        self.context.subject.wait_until(lambda: self.output() != _UNTOUCHED * self._chain.size, seconds)
        with checks.about("NNHAL-EXECUTE-006"):
            checks.equal(set(self.output()), {FILL}, f"bytes of the output some time behind an {what}")

    def _execute_undisturbed(self) -> None:
        """Execute alone and without a deadline: floats come out exactly, quantised values nearly."""
        started = time.monotonic()
        execution = execute(self.context, self.prepared_model, self.request, measure=False)
        self.seconds = time.monotonic() - started
        checks.status(execution.status, {ErrorStatus.NONE}, "execution without a deadline")
        self._undisturbed = self.output()
        self._chain.check(self._undisturbed, self._start)


def longest(context: CaseContext, additions: int = LONG) -> Chain:
    """The chain in the first type that the device has. NotSupported where there is none."""
    for addition in ADDITIONS:
        chain = Chain(addition, additions)
        if addition.since <= context.version and all(context.supported_operations(chain.model())):
            return chain
    raise NotSupported("ADD is supported of no type")


def _prepared(context: CaseContext, chain: Chain, priority: int, application: Application | None) -> PreparedModel:
    arguments = PreparationArguments(preference=ExecutionPreference.FAST_SINGLE_ANSWER, priority=priority)
    device = context.device_of(application)
    preparation = prepare(context.subject, device, chain.model(), arguments, PreparationRecorder())
    return model_of(preparation)
