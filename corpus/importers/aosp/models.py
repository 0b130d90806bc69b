"""Models: operations over operands, and the order in which both are emitted."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from npu_conformance.corpus.importers.aosp import naming
from npu_conformance.corpus.importers.aosp.operands import Input, Operand, Output, argument


class Node:
    """One operation of a model. Two of them are never the same."""

    def __init__(self, op: str, *inputs: Any) -> None:
        self.op = op
        self.ins = [argument(value) for value in inputs]
        self.outs: list[Operand] = []

    def replaced(self, operands: dict[str, Operand]) -> Node:
        """The same operation over the operands of these names."""
        made = Node(self.op)
        made.ins = [operands[operand.name] for operand in self.ins]
        made.outs = [operands[operand.name] for operand in self.outs]
        return made


class Model:
    """A graph, as a file builds it. Operands stand in the order of their first mention."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self.operations: list[Node] = []
        self.operands: list[Operand] = []
        self.isRelaxed = False
        self.version = naming.current().version
        naming.current().models.append(self)

    def AddOperand(self, operand: Operand) -> Model:
        """Mention an operand; a second mention has no effect."""
        if operand not in self.operands:
            self.operands.append(operand)
        return self

    def AddOperation(self, operation: Node) -> Model:
        """Append an operation and mention its operands."""
        self.operations.append(operation)
        for operand in (*operation.ins, *operation.outs):
            self.AddOperand(operand)
        return self

    def Operation(self, op: str, *inputs: Any) -> Model:
        """Append an operation; `To` gives it its outputs."""
        return self.AddOperation(Node(op, *inputs))

    def To(self, *outputs: Any) -> Model:
        """Give the last operation its outputs: several, or one list or tuple."""
        if not self.operations:
            raise ValueError("To(...) follows an operation")
        several = type(outputs[0]) in (list, tuple)
        self.operations[-1].outs = list(outputs[0] if several else outputs)
        for operand in self.operations[-1].outs:
            self.AddOperand(operand)
        return self

    def RelaxedExecution(self, isRelaxed: bool) -> Model:
        """Allow float32 to be computed in float16."""
        self.isRelaxed = isRelaxed
        return self

    def IntroducedIn(self, ver: str | None) -> Model:
        """State the version in which the model became legal, instead of the directory's; None for none."""
        self.version = ver
        return self

    def IdentifyInputs(self, *operands: Operand) -> Model:
        """State all inputs in their order; raises where the model has others."""
        return self._identify(operands, self.GetInputs)

    def IdentifyOutputs(self, *operands: Operand) -> Model:
        """State all outputs in their order; raises where the model has others."""
        return self._identify(operands, self.GetOutputs)

    def _identify(self, operands: tuple[Operand, ...], found: Any) -> Model:
        for operand in operands:
            self.AddOperand(operand)
        if tuple(found()) != operands:
            raise ValueError(f"expected {list(operands)}, the model has {found()}")
        return self

    def GetInputs(self) -> list[Operand]:
        """The inputs of the model, in the order of operands."""
        return [operand for operand in self.operands if isinstance(operand, Input)]

    def GetOutputs(self) -> list[Operand]:
        """The outputs of the model, in the order of operands."""
        return [operand for operand in self.operands if isinstance(operand, Output)]

    def operand(self, like: Operand) -> Operand:
        """This model's own operand of that name."""
        for operand in self.operands:
            if operand == like:
                return operand
        raise ValueError(f"the model has no operand {like}")

    def replace(self, operands: Iterable[Operand]) -> None:
        """Put these in the place of the operands of their names."""
        known = {operand.name: operand for operand in self.operands} | {operand.name: operand for operand in operands}
        self.operands = [known[operand.name] for operand in self.operands]
        self.operations = [operation.replaced(known) for operation in self.operations]

    def copied(self, done: dict[int, Model] | None = None) -> Model:
        """A copy that variations may change; a model that is referenced twice is copied once. Values are shared."""
        done = {} if done is None else done
        if id(self) not in done:
            made = done[id(self)] = copy.copy(self)
            made.replace([_copied(operand, done) for operand in self.operands])
        return done[id(self)]

    def referenced(self) -> list[Model]:
        """The models that this one reaches, depth first, each once, in the order of the first visit."""
        found: list[Model] = []
        _visit(self, found)
        return found[1:]

    def sorted_operations(self) -> list[Node]:
        """The operations, each after those it depends on; raises where they depend on each other in a circle."""
        needed: dict[int, list[Node]] = {id(operation): [] for operation in self.operations}
        for operand in self.operands:
            makers = [operation for operation in self.operations for made in operation.outs if made == operand]
            for user in (operation for operation in self.operations for used in operation.ins if used == operand):
                needed[id(user)] += makers
        return _after_their_needs(self.operations, needed)


def _copied(operand: Operand, done: dict[int, Model]) -> Operand:
    made = copy.copy(operand)
    if operand.lifetime == "SUBGRAPH" and operand.value is not None:
        made.value = [model.copied(done) for model in operand.value]
    return made


def _visit(model: Model, found: list[Model]) -> None:
    found.append(model)
    for operand in model.operands:
        if operand.lifetime == "SUBGRAPH" and operand.value is not None and operand.value[0] not in found:
            _visit(operand.value[0], found)


def _after_their_needs(operations: list[Node], needed: dict[int, list[Node]]) -> list[Node]:
    placed: list[Node] = []
    state: dict[int, str] = {}
    for first in operations:
        stack = [(first, iter(needed[id(first)]))] if id(first) not in state else []
        state.setdefault(id(first), "open")
        while stack:
            operation, rest = stack[-1]
            following = next((need for need in rest if state.get(id(need)) != "placed"), None)
            if following is None:
                stack.pop()
                placed.append(operation)
                state[id(operation)] = "placed"
            elif id(following) in state:
                raise ValueError("the operations depend on each other in a circle")
            else:
                state[id(following)] = "open"
                stack.append((following, iter(needed[id(following)])))
    return placed
