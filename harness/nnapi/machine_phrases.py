"""Calls that belong together, for random sequences: single calls seldom make a computation that succeeds."""

from __future__ import annotations

import random

from npu_conformance.harness.nnapi.machine import NEWEST, Step

_RIGHT = ((0, 16, 32, 48), (1, 17, 33, 49))
"""Values of set_argument that are right, without a type and with one."""
_FIRST = 0
_ROLES = (1, 9)
"""Values of add_role: the first input and the output, often enough used."""
_DESCRIBED_INPUT, _DESCRIBED_OUTPUT = 6, 2
"""Values of set_from_memory: the first input and the output, which are memory from a descriptor as a whole."""
_REUSABLE = Step("set_of_execution", NEWEST, 3, 1)
"""Between two computations of it every setter is refused, and none leaves anything."""


def phrase(chance: random.Random) -> list[Step]:
    """A compilation with its settings, an execution with its arguments, or memories of one descriptor.

    A call of it may be left out or wrong.
    """
    (make,) = chance.choices((_compilation, _execution, _memories), (3, 6, 1))
    steps = make(chance)
    if chance.random() < 0.2 and make is not _memories:
        steps.insert(chance.randrange(1, len(steps) + 1), _setting(chance, steps[0].call))
    if chance.random() < 0.1:
        del steps[chance.randrange(1, len(steps))]
    return steps


def _setting(chance: random.Random, made_by: str) -> Step:
    call = "set_of_compilation" if made_by == "compile" else "set_of_execution"
    return Step(call, NEWEST, chance.randrange(15), chance.randrange(840))


def _compilation(chance: random.Random) -> list[Step]:
    made = Step("compile", _FIRST, 0, chance.choice((0, 1)))
    settings = [_setting(chance, made.call) for _ in range(chance.randrange(5))]
    return [made, *settings, Step("finish_compilation", NEWEST), *(_execution(chance, NEWEST))]


def _memories(chance: random.Random) -> list[Step]:
    """Two memories of one descriptor, of which one is filled and read; what they hold is copied out."""
    roles = [Step("add_role", NEWEST, _FIRST, value) for value in _ROLES]
    made = [Step("describe"), *roles, Step("finish_descriptor", NEWEST), *[Step("allocate", NEWEST)] * 2]
    filled, other = chance.sample((NEWEST - 2, NEWEST - 1), 2)
    source, target = (chance.choice((filled, filled, other)) for _ in range(2))
    computing = [
        Step("execute", _FIRST),
        Step("set_from_memory", NEWEST, source, _DESCRIBED_INPUT),
        Step("set_argument", NEWEST, 1, _RIGHT[0][1]),
        Step("set_from_memory", NEWEST, chance.choice((filled, other, other)), _DESCRIBED_OUTPUT),
        *_computing(chance, _FIRST),
    ]
    copies = [Step("copy", NEWEST, filled), *(Step("copy", one, NEWEST) for one in chance.sample((target, other), 2))]
    return [*made, Step("share", value=chance.choice((0, 1))), *copies[: chance.randint(1, 3)], *computing, copies[-1]]


def _execution(chance: random.Random, compilation: int | None = None) -> list[Step]:
    of = chance.choice((_FIRST, _FIRST, NEWEST)) if compilation is None else compilation
    made = Step("execute", of)
    settings = [_setting(chance, made.call) for _ in range(chance.randrange(4))]
    steps = [made, *settings, *_arguments(chance), *_computing(chance, of)]
    if chance.random() < 0.4:
        steps[1:1] = [_REUSABLE]
        steps += [*(_setting(chance, made.call) for _ in range(chance.randrange(3))), *_computing(chance, of)]
    return steps


def _arguments(chance: random.Random) -> list[Step]:
    """All three, sometimes one of them again, or with something wrong before."""
    typed = chance.randrange(2)
    arguments = [Step("set_argument", NEWEST, slot, chance.choice(_RIGHT[typed])) for slot in range(3)]
    chance.shuffle(arguments)
    if chance.random() < 0.3:
        slot = chance.randrange(3)
        other = Step("set_argument", NEWEST, slot, chance.choice((chance.randrange(840), chance.choice(_RIGHT[typed]))))
        arguments.insert(chance.randrange(4), other)
    return arguments


def _computing(chance: random.Random, compilation: int) -> list[Step]:
    """One of the ways, and then what was computed is looked at."""
    ways = (
        (Step("compute", NEWEST),),
        (Step("start", NEWEST), Step("wait", NEWEST)),
        (Step("start_behind", NEWEST, NEWEST, 4), Step("wait", NEWEST)),
        (Step("create_burst", compilation), Step("burst_compute", NEWEST, NEWEST)),
        (Step("burst_compute", NEWEST, chance.choice((_FIRST, NEWEST))),),
    )
    looks = [Step(call, NEWEST, 0, chance.randrange(840)) for call in ("query", "duration") if chance.random() < 0.4]
    return [*chance.choice(ways), *looks]
