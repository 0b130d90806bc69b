"""What lives in a history: models, buffers, bursts, executions that are asked for, and those that wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npu_conformance.harness.run.caching import Cache
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.run.executing.launching import Launched
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.neuralnetworks.hal import Execution as ReusableExecution
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.vts.lib.addition import Addition, Values
from npu_conformance.vts.lib.histories.memory import Place
from npu_conformance.vts.lib.histories.recipes import Recipe


class Living(msgspec.Struct, eq=False):
    """A prepared model. number: of its preparation, from 1 on."""

    number: int
    recipe: Recipe
    prepared_model: PreparedModel

    def __str__(self) -> str:
        return f"model {self.number} ({self.recipe})"


class Held(msgspec.Struct, eq=False):
    """A buffer of the driver. roles: model number, direction and index. values: None where it is uninitialised.

    like: a model whose tensors are of its type and rank. rows: their number, None where it follows from the content.
    is_free: so does the number of columns, which is 0 as of `Recipe.shape`.
    """

    number: int
    made: DeviceBuffer
    roles: frozenset[tuple[int, str, int]]
    like: Recipe
    rows: int | None
    is_free: bool = False
    values: Values | None = None
    columns: int = 0

    def __str__(self) -> str:
        return f"buffer {self.number}"

    @property
    def chosen(self) -> Addition:
        """The type of its content."""
        return self.like.chosen

    def shape(self, rows: int) -> tuple[int, ...]:
        """Its dimensions with so many rows."""
        return self.like.shape(rows)


class OpenBurst(msgspec.Struct, eq=False):
    """A burst. free: names that it uses, one more than there are pools. names: of those that it knows, by number."""

    living: Living
    burst: Burst
    free: list[int]
    names: dict[int, int] = msgspec.field(default_factory=dict)


class Activation(msgspec.Struct, eq=False):
    """What a request says of the activation of its model. is_relu: none otherwise."""

    place: Place
    is_relu: bool


class Arguments(msgspec.Struct, eq=False):
    """Where the arguments of an execution lie.

    activation: None where the model has its own. rows: of each input. columns: of all, 0 as of `Recipe.shape`.
    """

    living: Living
    inputs: Sequence[Place | Held]
    outputs: Sequence[Place | Held]
    activation: Activation | None
    rows: Sequence[int]
    columns: int

    @property
    def all(self) -> list[Place | Held]:
        """Those of the request, inputs first."""
        activation = [] if self.activation is None else [self.activation.place]
        return [*self.inputs, *activation, *self.outputs]

    @property
    def places(self) -> list[Place]:
        """Where its arguments lie in the client's memory."""
        return [one for one in self.all if isinstance(one, Place)]

    def expected(self, values: list[Values]) -> list[Values]:
        """The outputs for these inputs."""
        is_clipped = self.activation is not None and self.activation.is_relu
        return self.living.recipe.expected(values, is_clipped=is_clipped)


class Ask(Arguments, eq=False):
    """An execution that is asked for. entries: number of the pool, or the buffer, that each pool of the request is."""

    request: Request
    entries: Sequence[int | Held]

    @property
    def hides_shapes(self) -> bool:
        """True where neither the model nor the request says the shapes of all outputs."""
        return self.living.recipe.is_open and any(0 in (one.dimensions or (0,)) for one in self.request.outputs)

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, places)) for places in (self.inputs, self.outputs))
        rows = f" of {', '.join(map(str, self.rows))} rows" if self.living.recipe.is_open else ""
        rows += f" in {self.columns} columns" if self.columns else ""
        code = f" and an activation in {self.activation.place}" if self.activation is not None else ""
        return f"{self.living} from {inputs}{rows}{code} to {outputs}"


class Bound(msgspec.Struct, eq=False):
    """A reusable execution. is_busy: a run of it waits for fences."""

    ask: Ask
    execution: ReusableExecution
    options: ExecutionOptions
    is_busy: bool = False


class Saved(msgspec.Struct, eq=False):
    """A cache of a model, and the token under which it was saved."""

    recipe: Recipe
    cache: Cache
    token: bytes

    def __str__(self) -> str:
        return f"the cache of ({self.recipe})"


class Root(msgspec.Struct, eq=False):
    """A fence of the client on which executions wait. is_settled: it was needed early, inside a call that waits."""

    fence: SettableFence
    is_settled: bool = False

    def signal(self) -> None:
        """Signal it."""
        self.is_settled = True
        self.fence.signal()


def signal_open(roots: Iterable[Root]) -> None:
    """Signal those that are not settled."""
    for root in roots:
        if not root.is_settled:
            root.signal()


class Pending(msgspec.Struct, eq=False):
    """A fenced execution that waits. roots: the client's fences on which it depends.

    late: inputs that get their values when the last root is about to signal, as does an activation that turns. bound:
    whose run it is.
    """

    ask: Ask
    launched: Launched
    roots: list[Root]
    late: dict[Place, Values]
    turns_activation: bool
    is_measured: bool
    bound: Bound | None = None
