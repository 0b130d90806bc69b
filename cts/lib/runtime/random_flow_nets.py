"""Random models with IF and WHILE inside of each other, and drivers for them. Everything follows from a seed.

Every graph takes a truth value, a counter, and two squares of whole numbers; it gives one square of numbers up to 6, so
that whoever computes which part finds the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from npu_conformance.corpus.vector_types import Graph, VectorOperand
from npu_conformance.cts.lib.runtime.nets import MATRIX, Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

_TRUTH = VectorOperand(OperandType.TENSOR_BOOL8, (1,))
_COUNT = VectorOperand(OperandType.TENSOR_INT32, (1,))
_ARGUMENTS = {"truth": _TRUTH, "count": _COUNT, "first": MATRIX, "second": MATRIX}
_OF_LOOPS = {"count": _COUNT, "first": MATRIX, "truth": _TRUTH, "bound": _COUNT, "second": MATRIX}
"""Inputs of branches, and of conditions and bodies; a loop changes the first two."""
_BINARY = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
_FUSED = ("ADD", "SUB", "MUL")
_RELU6, _NONE = 3, 0
_OPERATIONS = (*_BINARY, "LESS")
_LARGEST_BOUND = 3
_FIGURES = (0.2, 0.4, 0.6, 1.5)
_HALS = (Version.V1_2, Version.V1_3, Version.FL8)


@dataclass
class FlowNet:
    """One model under construction. graphs: those that IF and WHILE refer to, inner ones before outer ones.

    deepest: how many of these lie in each other at most.
    """

    seed: int
    deepest: int = 3
    chance: random.Random = field(init=False)
    graphs: list[Graph] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def net(self) -> Net:
        """The model; one of four may be computed in float16, which is exact for what it computes."""
        inner = self._flow(self.deepest)
        builder = NetBuilder(self.graphs)
        given = {name: builder.input(kind) for name, kind in _ARGUMENTS.items()}
        before = self._chain(builder, given["first"], given["second"])
        after = self._applied(builder, inner, {**given, "first": before})
        return builder.net(self._chain(builder, after, before), relaxed=self.chance.randrange(4) == 0)

    def _flow(self, depth: int) -> tuple[str, int, int]:
        """An IF or a WHILE with its graphs; returns which, and their numbers."""
        if self.chance.random() < 0.5:
            return "IF", self._graph(depth - 1, _ARGUMENTS), self._graph(depth - 1, _ARGUMENTS)
        return "WHILE", self._added(_condition()), self._graph(depth - 1, _OF_LOOPS)

    def _added(self, graph: Graph) -> int:
        self.graphs.append(graph)
        return len(self.graphs) - 1

    def _graph(self, depth: int, names: Mapping[str, VectorOperand]) -> int:
        """A branch, or a body, which counts; mostly with an IF or a WHILE of its own, as deep as is left."""
        inner = self._flow(depth) if depth > 0 and self.chance.random() < 0.7 else None
        builder = NetBuilder(self.graphs)
        given = {name: builder.input(kind) for name, kind in names.items()}
        result = self._chain(builder, given["first"], given["second"])
        if inner is not None:
            result = self._applied(builder, inner, {**given, "first": result})
            result = self._chain(builder, result, given["first"])
        counted = [builder.binary("ADD", given["count"], builder.ints(1))] if "bound" in given else []
        return self._added(builder.graph(*counted, result))

    def _chain(self, builder: NetBuilder, first: str, second: str) -> str:
        """One to three operations of these and of constants, the last of which brings all numbers to 6 at most."""
        for _ in range(self.chance.randrange(3)):
            other = builder.constant(first=self.chance.randint(1, 5)) if self.chance.random() < 0.5 else second
            first = self._operation(builder, self.chance.choice(_BINARY), first, other)
        constant = builder.constant(first=self.chance.randint(1, 5))
        return builder.binary(self.chance.choice(_FUSED), first, constant, _RELU6)

    def _operation(self, builder: NetBuilder, name: str, first: str, second: str) -> str:
        if name in _FUSED:
            return builder.binary(name, first, second, self.chance.choice((_NONE, _RELU6)))
        return builder.apply(name, first, second)

    def _applied(self, builder: NetBuilder, flow: tuple[str, int, int], given: Mapping[str, str]) -> str:
        """The IF or WHILE of these values. A loop counts from the number on that its graph has got."""
        kind, *graphs = flow
        references = [builder.builder.reference(number) for number in graphs]
        if kind == "IF":
            arguments = [given[name] for name in _ARGUMENTS]
            return builder.builder.apply("IF", (given["truth"], *references, *arguments), [MATRIX])[0]
        bounded = {**given, "bound": builder.ints(self.chance.randint(1, _LARGEST_BOUND))}
        arguments = [bounded[name] for name in _OF_LOOPS]
        return builder.builder.apply("WHILE", (*references, *arguments), [_COUNT, MATRIX])[1]


def _condition() -> Graph:
    builder = NetBuilder()
    given = {name: builder.input(kind) for name, kind in _OF_LOOPS.items()}
    return builder.graph(builder.apply("LESS", given["count"], given["bound"], result=_TRUTH))


def flow_drivers(seed: int) -> tuple[DriverScript, ...]:
    """One to three drivers with times, powers and caches of their own. In one of four seeds they know IF and WHILE."""
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
            cache_files=NumberOfCacheFiles(1, 1),
        )
        for number in range(chance.randint(1, 3))
    )
