"""What lives in a history: models, buffers, bursts, executions that are asked for, and those that wait."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.harness.run.caching import Cache
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.run.executing.launching import Launched
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.neuralnetworks.hal import Execution as ReusableExecution
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Request
from npu_conformance.vts.lib.histories.things import Root
from npu_conformance.vts.lib.operation_histories.known_models import KnownModel, Value
from npu_conformance.vts.lib.operation_histories.memory import Region


class Living(msgspec.Struct, eq=False):
    """A prepared model. number: of its preparation, from 1 on. inputs, outputs: its operands that are these.

    last: the example that was drawn last.
    """

    number: int
    known: KnownModel
    prepared_model: PreparedModel
    inputs: Sequence[Operand]
    outputs: Sequence[Operand]
    last: int | None = None

    def __str__(self) -> str:
        return f"model {self.number} ({self.known})"

    @property
    def is_open(self) -> bool:
        """True where requests say shapes of the model's arguments."""
        return any(
            value is not None and operand.dimensions != value.dimensions
            for example in self.known.examples
            for operands, values in ((self.inputs, example.inputs), (self.outputs, example.outputs))
            for operand, value in zip(operands, values, strict=True)
        )


class Held(msgspec.Struct, eq=False):
    """A buffer of the driver. roles: model number, direction and index. value: None where it is uninitialised.

    dimensions: that it was allocated with, () for any.
    """

    number: int
    made: DeviceBuffer
    roles: frozenset[tuple[int, str, int]]
    dimensions: tuple[int, ...]
    value: Value | None = None

    def __str__(self) -> str:
        return f"buffer {self.number}"


Argument = Region | Held | None
"""Where an argument is; None for an input that is left out."""


class Ask(msgspec.Struct, eq=False):
    """An execution that is asked for. example: of its model, whose inputs it has.

    entries: number of the pool, or the buffer, that each pool of the request is.
    """

    living: Living
    example: int
    inputs: Sequence[Argument]
    outputs: Sequence[Region | Held]
    request: Request
    entries: Sequence[int | Held]

    @property
    def regions(self) -> list[Region]:
        """Where its arguments lie in the client's memory."""
        return [one for one in (*self.inputs, *self.outputs) if isinstance(one, Region)]

    @property
    def buffers(self) -> list[Held]:
        """The buffers of the driver that it names."""
        return [one for one in self.entries if isinstance(one, Held)]

    @property
    def hides_shapes(self) -> bool:
        """True where neither the model nor the request says the shapes of all outputs."""
        example = self.living.known.examples[self.example]
        said = zip(self.request.outputs, self.living.outputs, example.outputs, strict=True)
        is_left_open = any((one.dimensions or operand.dimensions) != value.dimensions for one, operand, value in said)
        return is_left_open or example.has_empty_outputs

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, places)) for places in (self.inputs, self.outputs))
        return f"{self.living}, example {self.example}, from {inputs} to {outputs}"


class OpenBurst(msgspec.Struct, eq=False):
    """A burst. names: of the pools that it knows, by their number."""

    living: Living
    burst: Burst
    names: dict[int, int] = msgspec.field(default_factory=dict)


class Bound(msgspec.Struct, eq=False):
    """A reusable execution. is_busy: a run of it waits for fences."""

    ask: Ask
    execution: ReusableExecution
    options: ExecutionOptions
    is_busy: bool = False


class Saved(msgspec.Struct, eq=False):
    """A cache of a model, and the token under which it was saved."""

    known: KnownModel
    model: Model
    cache: Cache
    token: bytes


class Pending(msgspec.Struct, eq=False):
    """A fenced execution that waits. roots: the client's fences on which it depends. bound: whose run it is."""

    ask: Ask
    launched: Launched
    roots: list[Root]
    is_measured: bool
    bound: Bound | None = None
