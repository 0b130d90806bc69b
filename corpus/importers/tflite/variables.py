"""What a model keeps between two runs: resource variables and variable tensors, for which NNAPI has no counterpart.

Each becomes a model input, which gets the value, and a model output, which gives the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from npu_conformance.corpus.importers.tflite.flatbuffer import Array

Key = tuple[str, str]
"""Container and name of a resource variable."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A model input, the model output whose value it gets in the next run, and its elements in the first."""

    input: str
    output: str
    initial: Array


@dataclass(slots=True, eq=False)
class Variables:
    """The variables of a subgraph. handles: by the number of the tensor that refers to one.

    initial: values from the subgraph that initialises them. assigned: those that this subgraph writes, constants: with
    a value that is known now.
    current: the operand with the value of now. inputs: the model input and the initial value of those that are read
    before they are written. tensors: input, operand of the next value and initial value of variable tensors.
    """

    handles: dict[int, Key] = field(default_factory=dict)
    initial: dict[Key, Array] = field(default_factory=dict)
    constants: dict[Key, Array] = field(default_factory=dict)
    assigned: set[Key] = field(default_factory=set)
    current: dict[Key, str] = field(default_factory=dict)
    inputs: dict[Key, tuple[str, Array]] = field(default_factory=dict)
    tensors: list[State] = field(default_factory=list)

    def ends(self) -> list[State]:
        """All states, with the operands that hold their values at the end of a run."""
        read = [State(name, self.current[key], initial) for key, (name, initial) in self.inputs.items()]
        return [*read, *self.tensors]
