"""What happens in a history of an NNAPI runtime: calls of its API, and some of them together, as apps make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import Histories, encoded, orders
from npu_conformance.fuzz.lib.json_edits import Grammar
from npu_conformance.harness.nnapi import machine
from npu_conformance.harness.nnapi.machine import FOREIGN, FREED, ApiMachine
from npu_conformance.harness.nnapi.machine_steps import STEPS

MOST = 48
"""Calls are small: a computation takes a dozen of them."""
_LARGEST = 840
_OBJECTS = (0, 0, 0, 1, 0, 1, 2, 99, FREED, FOREIGN)
_CHAINS = ("built", "ready")
_RUNS = {name: run for name, (run, _) in STEPS.items()}
_WEIGHTED = tuple(name for name, (_, weight) in STEPS.items() for _ in range(weight)) + 3 * _CHAINS

Small = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class Call(msgspec.Struct, tag_field="do", tag="call", forbid_unknown_fields=True, omit_defaults=True):
    """One call. name: as in the machine's steps. object, second, value: see its Step."""

    name: str
    object: Small = 0
    second: Small = 0
    value: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = 0


class Built(msgspec.Struct, tag_field="do", tag="built", forbid_unknown_fields=True, omit_defaults=True):
    """A model of an ADD, compiled for all devices or for the CPU alone.

    kind: of its vectors, see the machine's add_operand. activation: of the ADD. unfinished: so many calls are left out.
    """

    kind: Annotated[int, msgspec.Meta(ge=0, le=1)] = 0
    activation: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0
    explicit: bool = False
    unfinished: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0


class Ready(msgspec.Struct, tag_field="do", tag="ready", forbid_unknown_fields=True, omit_defaults=True):
    """An execution of a compilation with all its arguments; reusable and timed where that is asked for."""

    object: Small = 0
    reusable: bool = False
    timed: bool = False
    value: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0


class Described(msgspec.Struct, tag_field="do", tag="described", forbid_unknown_fields=True, omit_defaults=True):
    """Memory from a descriptor whose one role is an input or the output of a compilation."""

    object: Small = 0
    output: bool = False


Step = Call | Built | Ready | Described


@dataclass(frozen=True)
class _Numbers:
    """The numbers of the objects that are made next."""

    model: int
    compilation: int
    execution: int
    descriptor: int


def calls_of(step: Step, driven: ApiMachine) -> Iterator[machine.Step]:
    """The calls that a step stands for."""
    made = _Numbers(
        len(driven.models.living),
        len(driven.compilations.living),
        len(driven.executions.living),
        len(driven.descriptors.living),
    )
    match step:
        case Call(name, found, second, value):
            if name in _RUNS:
                yield machine.Step(name, found, second, value)
        case Built():
            calls = list(_built(step, made))
            yield from calls[: len(calls) - step.unfinished]
        case Ready():
            yield from _ready(step, made.execution)
        case Described(found, output):
            yield machine.Step("describe")
            yield machine.Step("add_role", made.descriptor, found, 0 if output else 40)
            yield machine.Step("finish_descriptor", made.descriptor)
            yield machine.Step("allocate", made.descriptor)


def perform(call: machine.Step, driven: ApiMachine) -> None:
    """Make a call."""
    _RUNS[call.call](driven, call)


def _built(step: Built, made: _Numbers) -> Iterator[machine.Step]:
    model = made.model
    yield machine.Step("create_model")
    for kind in (step.kind, step.kind, 2, step.kind):
        yield machine.Step("add_operand", model, value=kind)
    yield machine.Step("set_value", model, value=_VALUE_OF[step.activation])
    yield machine.Step("add_operation", model)
    yield machine.Step("identify", model)
    yield machine.Step("finish_model", model)
    yield machine.Step("compile", model, value=int(step.explicit))
    yield machine.Step("finish_compilation", made.compilation)


_VALUE_OF = (0, 4, 7, 10)
"""By activation: the value with which set_value sets it as operand 2."""


def _ready(step: Ready, execution: int) -> Iterator[machine.Step]:
    yield machine.Step("execute", step.object)
    if step.reusable:
        yield machine.Step("set_of_execution", execution, 3, 1)
    if step.timed:
        yield machine.Step("set_of_execution", execution, 0, 1)
    for slot in range(3):
        yield machine.Step("set_argument", execution, slot, _ARGUMENT_VALUES[step.value])


_ARGUMENT_VALUES = (1, 17, 33, 49)
"""Of set_argument: typed, of the right length, with each of the inputs' values."""


def _fresh(choices: Choices) -> Step:
    name = choices.pick(_WEIGHTED)
    found, value = choices.pick(_OBJECTS), choices.below(_LARGEST)
    if name == "built":
        unfinished = choices.pick((0, 0, 0, 1, 2, 3, 5))
        return Built(int(value % 5 == 4), value // 5 % 4, bool(choices.below(2)), unfinished)
    if name == "ready":
        return Ready(max(found, 0), bool(value % 2), bool(value // 2 % 2), value // 4 % 4)
    if name == "describe" and value % 2:
        return Described(max(found, 0), bool(choices.below(2)))
    return Call(name, found, choices.pick(_OBJECTS), value)


_GRAMMAR = Grammar(
    integers={"object": _OBJECTS, "second": _OBJECTS, "value": tuple(range(0, _LARGEST, 7))},
    templates={"name": tuple(STEPS)},
)
histories: Histories[Step] = Histories(msgspec.json.Decoder(list[Step]), _fresh, _GRAMMAR, MOST, {"object": "object"})

_OF_A_COMPILATION: Sequence[Sequence[Step]] = [
    *([Call("set_of_compilation", second=which, value=value)] for which in (0, 1) for value in (1, 3 - 3 * which)),
    [Call("set_of_compilation", second=2, value=1)],
    [Call("set_caching")],
]
"""A preference and a priority, of each a good and a refused one; a timeout; a cache."""
_OF_AN_EXECUTION: Sequence[Sequence[Step]] = [
    *([Call("set_of_execution", second=which, value=value)] for which in (0, 3) for value in (0, 1)),
    [Call("set_argument", value=17)],
    [Call("compute")],
]
_BEFORE: Sequence[Sequence[Step]] = [[Built(unfinished=1)], [Built(explicit=True), Ready()]]
_BEHIND: Sequence[Sequence[Step]] = [
    [Call("finish_compilation"), Ready(), Call("compute")],
    [Call("compute"), Call("query")],
]
_LIVES = (*orders(_BEFORE[0], _OF_A_COMPILATION, _BEHIND[0]), *orders(_BEFORE[1], _OF_AN_EXECUTION, _BEHIND[1]))
_HISTORIES: tuple[list[Step], ...] = (
    [Built(), Ready(), Call("compute"), Call("query"), Call("duration"), Call("compute")],
    [Built(explicit=True), Ready(reusable=True, timed=True), Call("compute"), Call("duration"), Call("compute")],
    [Built(kind=1, activation=1), Ready(value=1), Call("start"), Call("wait"), Call("query"), Call("free_event")],
    [Built(), Built(activation=3), Call("create_burst", 1), Ready(), Ready(1), Call("burst_compute", 1)],
    [Built(unfinished=3), Call("add_operand"), Call("finish_model"), Call("compile"), Call("finish_compilation")],
    [Built(unfinished=1), Call("set_of_compilation"), Call("set_caching"), Call("finish_compilation"), Ready()],
    [Built(), Described(), Call("share"), Call("copy", 1, 0), Call("execute"), Call("set_from_memory")],
    [Built(), Described(output=True), Ready(), Call("share"), Call("compute"), Call("copy", 0, 1)],
    [Built(), Ready(), Ready(), Call("start", 0), Call("start_behind", 1, 0), Call("wait", 1), Call("wait", 0)],
    [Built(explicit=True), Ready(), Call("free_execution"), Call("free_compilation"), Call("free_model")],
    [
        Built(explicit=True),
        Call("create_burst"),
        Ready(timed=True),
        Call("burst_compute"),
        Call("query"),
        Call("duration"),
    ],
    [Built(), Call("describe"), Call("add_role", value=40), Call("add_role", value=10), Call("finish_descriptor")],
    [Built(), Described(), Call("share"), Call("copy", 1, 0), Call("share", value=4), Call("copy", 0, 2)],
    [Built(), Built(), Call("free_compilation"), Call("execute", FREED), Call("execute", FOREIGN), Ready()],
    [Built(), Ready(), Ready(), Call("start"), Call("start", 1), Call("wait", 1), Call("wait"), Call("free_event")],
    [Call("create_model"), Call("add_operand"), Call("finish_model"), Call("add_operand"), Call("ask_support")],
)
SEEDS = tuple(map(encoded, (*_HISTORIES, *_LIVES)))
