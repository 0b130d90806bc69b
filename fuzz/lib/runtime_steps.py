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
from npu_conformance.harness.nnapi.machine_given import COUNT, GIVEN, Given
from npu_conformance.harness.nnapi.machine_steps import STEPS

MOST = 48
"""Calls are small: a computation takes a dozen of them."""
_LARGEST = 840
_OBJECTS = (0, 0, 0, 1, 0, 1, 2, 99, FREED, FOREIGN)
_CHAINS = ("built", "ready")
_SCALAR = 2
"""The machine's add_operand of this value."""
_LONGEST_LIST = 130
_NAMES = (*GIVEN, "identify", "add_operation")
_CODES = (0, 0, 0, 1, 18, 19, 94, 95, 105, 106, -1, 9999, 10000, 1 << 16)
_INDEXES = (0, 1, 2, 3, 4, COUNT - 2, COUNT - 1, COUNT, COUNT + 1, -1)
_LENGTHS = (0, 1, 3, 4, 5, 7, 8, 9, 16, 63, 64, 65, 128, 129, 256, COUNT - 8, COUNT - 1, COUNT, COUNT + 1)
_OFFSETS = (0, 0, 0, 1, 2, 4, 8, COUNT - 8, COUNT - 7, COUNT - 1, COUNT, COUNT + 1, -1, -8)
_SIZES = (1, 1, 2, 2, 3, 3, 3, 4, 64, 65, 129)
"""Of lists."""
_RUNS = {name: run for name, (run, _) in STEPS.items()}
_WEIGHTED = (
    tuple(name for name, (_, weight) in STEPS.items() for _ in range(weight))
    + 3 * _CHAINS
    + 12 * ("told",)
    + 3 * ("wired",)
)

Small = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Large = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]


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


Short = Annotated[list[Large], msgspec.Meta(max_length=_LONGEST_LIST)]


class Told(msgspec.Struct, tag_field="do", tag="told", forbid_unknown_fields=True, omit_defaults=True):
    """A call with its arguments. See machine_given."""

    name: str
    object: Small = 0
    second: Small = 0
    code: Small = 0
    inputs: Short = msgspec.field(default_factory=list)
    outputs: Short = msgspec.field(default_factory=list)
    offset: Large = 0
    length: Large = 0


class Wired(msgspec.Struct, tag_field="do", tag="wired", forbid_unknown_fields=True, omit_defaults=True):
    """A model of ADDs of any form: each reads and writes the operands of its four numbers, which may be none's.

    operands: their kinds, see the machine's add_operand; scalars are constants. unfinished: as of Built.
    """

    operands: Annotated[list[Annotated[int, msgspec.Meta(ge=0, le=2)]], msgspec.Meta(max_length=24)] = msgspec.field(
        default_factory=lambda: [0, 0, 2, 0]
    )
    operations: Annotated[list[Short], msgspec.Meta(max_length=12)] = msgspec.field(
        default_factory=lambda: [[0, 1, 2, 3]]
    )
    inputs: Short = msgspec.field(default_factory=lambda: [0, 1])
    outputs: Short = msgspec.field(default_factory=lambda: [3])
    unfinished: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0


Step = Call | Built | Ready | Described | Told | Wired


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
        case Wired():
            calls = list(_wired(step, made.model))
            yield from calls[: len(calls) - step.unfinished]
        case Told():
            yield from _told(step)
        case Ready():
            yield from _ready(step, made.execution)
        case Described(found, output):
            yield machine.Step("describe")
            yield machine.Step("add_role", made.descriptor, found, 0 if output else 40)
            yield machine.Step("finish_descriptor", made.descriptor)
            yield machine.Step("allocate", made.descriptor)


def perform(call: machine.Step, driven: ApiMachine) -> None:
    """Make a call."""
    if isinstance(call, Given):
        GIVEN[call.call](driven, call)
    else:
        _RUNS[call.call](driven, call)


def _told(step: Told) -> Iterator[Given]:
    if step.name in GIVEN:
        lists = tuple(step.inputs), tuple(step.outputs)
        yield Given(step.name, step.object, step.second, 0, step.code, *lists, step.offset, step.length)


def _wired(step: Wired, model: int) -> Iterator[machine.Step]:
    yield machine.Step("create_model")
    for kind in step.operands:
        yield machine.Step("add_operand", model, value=kind)
    for index, kind in enumerate(step.operands):
        if kind == _SCALAR:
            yield Given("set_value", model, offset=index, length=4)
    for numbers in step.operations:
        yield Given("add_operation", model, inputs=tuple(numbers[:3]), outputs=tuple(numbers[3:]))
    yield Given("identify", model, inputs=tuple(step.inputs), outputs=tuple(step.outputs))
    yield machine.Step("finish_model", model)


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
    if name == "told":
        return _fresh_told(choices)
    if name == "wired":
        return _fresh_wired(choices)
    if name == "describe" and value % 2:
        return Described(max(found, 0), bool(choices.below(2)))
    return Call(name, found, choices.pick(_OBJECTS), value)


def _fresh_told(choices: Choices) -> Told:
    return Told(
        name=choices.pick(_NAMES),
        object=choices.pick(_OBJECTS),
        second=choices.pick(_OBJECTS),
        code=choices.pick(_CODES),
        inputs=_fresh_list(choices),
        outputs=_fresh_list(choices),
        offset=choices.pick(_OFFSETS),
        length=choices.pick(_LENGTHS),
    )


def _fresh_list(choices: Choices) -> list[int]:
    size = choices.pick(_SIZES)
    if size <= _FEW:
        return [choices.pick(_INDEXES) for _ in range(size)]
    return [choices.pick(_INDEXES)] * size


def _fresh_wired(choices: Choices) -> Wired:
    """A chain of ADDs, each of the result of the one before it; one number may be another one."""
    length = 1 + choices.below(_LONGEST_CHAIN)
    operands = [0, 0, _SCALAR, *[0] * length]
    operations = [[2 + number if number else 0, 1, 2, 3 + number] for number in range(length)]
    if choices.below(2):
        choices.pick(operations)[choices.below(4)] = choices.pick((*range(len(operands)), *_INDEXES))
    return Wired(operands, operations, [0, 1], [len(operands) - 1], choices.pick((0, 0, 0, 1, 2)))


_FEW, _LONGEST_CHAIN = 4, 4
_GRAMMAR = Grammar(
    integers={
        "object": _OBJECTS,
        "second": _OBJECTS,
        "value": tuple(range(0, _LARGEST, 7)),
        "code": _CODES,
        **dict.fromkeys(("inputs", "outputs", "operations"), _INDEXES),
        "offset": _OFFSETS,
        "length": _LENGTHS,
    },
    templates={"name": (*STEPS, *(name for name in GIVEN if name not in STEPS))},
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
_WIRED = Wired([0, 0, 2, 0, 0], [[0, 1, 2, 3], [3, 1, 2, 4]], [0, 1], [4])
_HISTORIES: tuple[list[Step], ...] = (
    [_WIRED, Call("compile"), Call("finish_compilation"), Ready(), Call("compute")],
    [Wired(unfinished=2), Told("add_operation", inputs=[0, 1, 2], outputs=[3]), Told("identify", inputs=[0, 1])],
    [Wired(unfinished=3), Told("set_value", offset=COUNT - 1, length=8), Told("add_operand", code=3, inputs=[2])],
    [Call("share", value=2), Wired(unfinished=2), Told("set_value_from_memory", inputs=[1], offset=1, length=COUNT)],
    [Built(), Call("execute"), Told("set_argument", inputs=[COUNT - 1], length=8), Call("compute")],
    [Built(), Call("share"), Call("execute"), Told("set_from_memory", inputs=[2], offset=COUNT - 8, length=8)],
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


def _boundaries() -> Iterator[list[Step]]:
    """The first number of no operand or argument; a model that is a cycle; one that is finished twice in vain."""
    for name, code in (("identify", 0), ("add_operation", 1)):
        for first, last in ((COUNT, 3), (1, COUNT)):
            yield [Wired(unfinished=2), Told(name, code=code, inputs=[0, first], outputs=[last])]
    yield [Wired(unfinished=2), Told("set_value", offset=COUNT, length=4)]
    yield [Built(), Call("execute"), Told("set_argument", inputs=[COUNT], length=8)]
    yield [Wired([0, 0, 2, 0, 0], [[0, 4, 2, 3], [3, 1, 2, 4]], [0, 1], [4])]
    yield [Wired(operations=[[0, 1, 2, 3], [1, 0, 2, 3]]), Call("finish_model"), Call("add_operand")]


SEEDS = tuple(map(encoded, (*_boundaries(), *_HISTORIES, *_LIVES)))
