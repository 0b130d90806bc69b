"""Random models with IF and WHILE inside of each other, and drivers for them. Everything follows from a seed.

Every graph takes a truth value, a counter, and two squares of whole numbers; it gives one or both of the squares with
numbers from -6 to 6, so that whoever computes which part finds the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from npu_conformance.corpus.vector_types import Graph, VectorOperand
from npu_conformance.cts.lib.runtime.nets import MATRIX, Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

_TRUTH = VectorOperand(OperandType.TENSOR_BOOL8, (1,))
_COUNT = VectorOperand(OperandType.TENSOR_INT32, (1,))
_ARGUMENTS = {"truth": _TRUTH, "count": _COUNT, "first": MATRIX, "second": MATRIX}
_OF_LOOPS = {"count": _COUNT, "first": MATRIX, "second": MATRIX, "truth": _TRUTH, "bound": _COUNT}
"""Inputs of branches, and of conditions and bodies; a loop changes the first two or three."""
_BINARY = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
_FUSED = ("ADD", "SUB", "MUL")
_RELU6, _NONE = 3, 0
_OPERATIONS = (*_BINARY, "LESS", "FILL", "REDUCE_SUM")
_BOUNDS = (0, 1, 2, 3, 3)
_FIGURES = (0.2, 0.4, 0.6, 1.5)
_HALS = (Version.V1_2, Version.V1_3, Version.FL8)
_OFTEN, _SELDOM = 0.5, 0.3
_ALONE = VectorOperand(OperandType.TENSOR_FLOAT32, (1,))
_LONGEST = VectorOperand(OperandType.TENSOR_FLOAT32, (16,))
"""Longer than any vector that a round makes; the model leaves its length open."""


@dataclass(frozen=True)
class _Flow:
    """An IF or a WHILE. graphs: the numbers of its two. is_pair: whether it gives both squares, else the first."""

    kind: str
    graphs: tuple[int, int]
    is_pair: bool


@dataclass
class FlowNet:
    """One model under construction. graphs: those that IF and WHILE refer to, inner ones before outer ones.

    deepest: how many of these lie in each other at most. grows: whether temporaries may have sizes that differ from
    round to round, and are known to nobody before. has_states: whether loops carry both squares and give one.
    """

    seed: int
    deepest: int = 3
    grows: bool = False
    has_states: bool = False
    chance: random.Random = field(init=False)
    graphs: list[Graph] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def net(self) -> Net:
        """The model; one of four may be computed in float16, which is exact for what it computes."""
        inner = self._flow(self.deepest)
        builder = NetBuilder(self.graphs)
        given = {name: builder.input(kind) for name, kind in _ARGUMENTS.items()}
        is_first = self.chance.random() < _OFTEN
        before = given["first"] if is_first else self._chain(builder, given["first"], given["second"])
        after = self._applied(builder, inner, {**given, "first": before})
        return builder.net(self._chain(builder, after[0], before), *after[1:], relaxed=self.chance.randrange(4) == 0)

    def _flow(self, depth: int) -> _Flow:
        """An IF or a WHILE with its graphs."""
        is_pair = self.chance.random() < _OFTEN
        if self.chance.random() < _OFTEN:
            branches = [self._graph(depth - 1, _ARGUMENTS, is_pair=is_pair) for _ in range(2)]
            return _Flow("IF", (branches[0], branches[1]), is_pair)
        condition, carries_both = self._condition(), is_pair or self.has_states
        body = self._graph(depth - 1, _OF_LOOPS, is_pair=carries_both)
        return _Flow("WHILE", (condition, body), is_pair and not self.has_states)

    def _added(self, graph: Graph) -> int:
        self.graphs.append(graph)
        return len(self.graphs) - 1

    def _condition(self) -> int:
        """The counter is less than the bound; in every second loop an IF says so, or a round earlier."""
        has_if = self.chance.random() < _OFTEN
        branches = [self._added(_less(earlier)) for earlier in self.chance.choice(((0, 1), (1, 0)))] if has_if else []
        builder = NetBuilder(self.graphs)
        given = {name: builder.input(kind) for name, kind in _OF_LOOPS.items()}
        if not has_if:
            return self._added(builder.graph(builder.apply("LESS", given["count"], given["bound"], result=_TRUTH)))
        references = [builder.builder.reference(number) for number in branches]
        arguments = given["truth"], *references, given["count"], given["bound"]
        return self._added(builder.graph(*builder.builder.apply("IF", arguments, [_TRUTH])))

    def _graph(self, depth: int, names: Mapping[str, VectorOperand], *, is_pair: bool) -> int:
        """A branch, or a body, which counts; mostly with an IF or a WHILE of its own, as deep as is left."""
        inner = self._flow(depth) if depth > 0 and self.chance.random() < 0.7 else None
        builder = NetBuilder(self.graphs)
        given = {name: builder.input(kind) for name, kind in names.items()}
        is_body, counts_late = "bound" in given, self.chance.random() < _OFTEN
        counted = [] if counts_late or not is_body else [_one_more(builder, given["count"])]
        other = [self._chain(builder, given["second"], given["first"])] if is_pair else []
        growing: list[str] = []
        has_state = is_body and self.has_states  # what nobody but the rounds sees has to be seen by these
        first = builder.binary("SUB", given["first"], given["second"]) if has_state else given["first"]
        result = self._chain(builder, first, given["second"])
        if self.grows and self.chance.random() < _OFTEN:
            result, growing = _lengthened(builder, result, given["count"])
        if inner is not None:
            result, *more = self._applied(builder, inner, {**given, "first": result})
            result = self._chain(builder, result, (more or [given["first"]])[0])
        if counts_late and is_body:
            counted = [_one_more(builder, given["count"])]
        return self._added(_opened(builder.graph(*counted, result, *other), growing))

    def _chain(self, builder: NetBuilder, first: str, second: str) -> str:
        """Up to two operations of these and of constants, and then those that leave all numbers between -6 and 6."""
        for _ in range(self.chance.randrange(3)):
            other = builder.constant(first=self.chance.randint(1, 5)) if self.chance.random() < _OFTEN else second
            first = self._operation(builder, self.chance.choice(_BINARY), first, other)
        constant = builder.constant(first=self.chance.randint(1, 5))
        if self.chance.random() < _SELDOM:
            return builder.binary(self.chance.choice(_FUSED), first, constant, _RELU6)
        last = builder.binary(self.chance.choice(("ADD", "SUB")), first, constant)
        return builder.apply("MAXIMUM", builder.apply("MINIMUM", last, _number(builder, 6)), _number(builder, -6))

    def _operation(self, builder: NetBuilder, name: str, first: str, second: str) -> str:
        if name in _FUSED:
            return builder.binary(name, first, second, self.chance.choice((_NONE, _RELU6)))
        return builder.apply(name, first, second)

    def _applied(self, builder: NetBuilder, flow: _Flow, given: Mapping[str, str]) -> list[str]:
        """The IF or WHILE of these values. A loop counts from the number on that its graph has got."""
        references = [builder.builder.reference(number) for number in flow.graphs]
        values = {name: self._maybe_constant(builder, name, value) for name, value in given.items()}
        results = [MATRIX, MATRIX] if flow.is_pair else [MATRIX]
        if flow.kind == "IF":
            arguments = [values[name] for name in _ARGUMENTS]
            return builder.builder.apply("IF", (values["truth"], *references, *arguments), results)
        bounded = {**values, "bound": builder.ints(self.chance.choice(_BOUNDS))}
        arguments = [bounded[name] for name in _OF_LOOPS]
        return builder.builder.apply("WHILE", (*references, *arguments), [_COUNT, *results])[1:]

    def _maybe_constant(self, builder: NetBuilder, name: str, value: str) -> str:
        """Seldom a constant in place of a value that an IF or WHILE gets."""
        if name not in ("truth", "second", "first") or self.chance.random() >= _SELDOM:
            return value
        return builder.constant(_ARGUMENTS[name], self.chance.choice((0, 3)))


def _less(earlier: int) -> Graph:
    """The counter is less than the bound by more than so much."""
    builder = NetBuilder()
    count, bound = builder.input(_COUNT), builder.input(_COUNT)
    return builder.graph(
        builder.apply("LESS", builder.binary("ADD", count, builder.ints(earlier)), bound, result=_TRUTH)
    )


def _one_more(builder: NetBuilder, count: str) -> str:
    return builder.binary("ADD", count, builder.ints(1))


def _lengthened(builder: NetBuilder, matrix: str, count: str) -> tuple[str, list[str]]:
    """The smaller of a square and a number: of the ones in a vector that is longer in each round.

    Returns the result, and the operand whose size has to be left open.
    """
    filled = builder.builder.apply(
        "FILL", (_one_more(builder, count), builder.scalar(1, OperandType.FLOAT32)), [_LONGEST]
    )
    summed = builder.builder.apply(
        "REDUCE_SUM",
        (*filled, builder.ints(0), builder.scalar(True, OperandType.BOOL)),
        [replace(_LONGEST, dimensions=())],
    )
    return builder.apply("MINIMUM", matrix, *summed), filled


def _number(builder: NetBuilder, value: float) -> str:
    """A constant of one number, which goes with any square."""
    import numpy

    return builder.builder.constant(_ALONE, numpy.array([value], numpy.float32))


def _opened(graph: Graph, names: Sequence[str]) -> Graph:
    """The graph with the sizes of these operands open."""
    opened = {name: replace(graph.operands[name], dimensions=(0,)) for name in names}
    return replace(graph, operands={**graph.operands, **opened}) if opened else graph


def flow_drivers(seed: int) -> tuple[DriverScript, ...]:
    """One to three drivers with times, powers and caches of their own. In one of four seeds they know IF and WHILE.

    Every second one computes behind fences when somebody waits for it: who reads too early reads nothing.
    """
    chance = random.Random(-1 - seed)
    has_flow = chance.randrange(4) == 0
    times, powers = (chance.sample(_FIGURES, len(_FIGURES)) for _ in range(2))
    return tuple(
        driver(
            f"driver-{number}",
            *(name for name in _OPERATIONS if chance.random() < 0.6),
            *(("IF", "WHILE") if has_flow else ("ABS",)),
            hal=Version.FL8 if has_flow else chance.choice(_HALS),
            exec_time=times[number],
            power_usage=powers[number],
            cache_files=NumberOfCacheFiles(1, number),
            misbehaviours=(Misbehaviour("execute", "lazy"),) if chance.random() < _OFTEN else (),
        )
        for number in range(chance.randint(1, 3))
    )
