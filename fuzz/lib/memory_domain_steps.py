"""What happens in a history of buffers: the steps, those to begin with, and fresh ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import Histories, encoded, orders
from npu_conformance.fuzz.lib.json_edits import Grammar
from npu_conformance.fuzz.lib.request_edits import BOUNDARIES, Edit
from npu_conformance.specs.versions import Version

BUFFERS, MODELS = 4, 5
"""How many there are in a history; a step names them by their numbers."""
MEMORIES = ("ashmem", "mmap_fd", "hardware_buffer_blob")
"""Kinds of memory that every device copies from and to (NNHAL-MEMDOMAIN-021)."""
SHARED, NO_TOKEN = -1, -2
"""Places of an argument that are no buffer: shared memory, and token 0; from there on, -2 - n is the token n."""
NULL, IMPOSTOR = -1, -2
"""Models that are none: null, and an object of the client's own."""
_INT32, _UINT32 = range(-(1 << 31), 1 << 31), range(1 << 32)
_MOST = 4
"""Entries of a list of models or roles."""
Role = tuple[int, int]
"""A place in the list of models, and an input or output of that model."""


class Prepare(msgspec.Struct, tag_field="do", tag="prepare", forbid_unknown_fields=True, omit_defaults=True):
    """A model is prepared anew; the one that had its number is dropped."""

    model: int
    kind: str


class Allocate(msgspec.Struct, tag_field="do", tag="allocate", forbid_unknown_fields=True, omit_defaults=True):
    """A buffer is allocated; the one that had its number is freed. inputs, outputs: roles."""

    buffer: int = 0
    models: list[int] = msgspec.field(default_factory=lambda: [0])
    inputs: list[Role] = []
    outputs: list[Role] = []
    dimensions: list[int] = []
    probability: float = 1.0


class Free(msgspec.Struct, tag_field="do", tag="free", forbid_unknown_fields=True, omit_defaults=True):
    """The client lets go of a buffer; its number still stands for its token."""

    buffer: int = 0


class Fill(msgspec.Struct, tag_field="do", tag="fill", forbid_unknown_fields=True, omit_defaults=True):
    """copyFrom, of as many bytes as the dimensions have (or the buffer, or its content), and `more`."""

    buffer: int = 0
    dimensions: list[int] = []
    values: int = 0
    more: int = 0
    memory: int = 0


class Read(msgspec.Struct, tag_field="do", tag="read", forbid_unknown_fields=True, omit_defaults=True):
    """copyTo, to memory of as many bytes as the content has, and `more`."""

    buffer: int = 0
    more: int = 0
    memory: int = 0


class Execute(msgspec.Struct, tag_field="do", tag="execute", forbid_unknown_fields=True, omit_defaults=True):
    """An execution. inputs, outputs: numbers of buffers, or other places. way: one of the version's ways.

    shape: of tensors in shared memory, where the model leaves it open. claims: dimensions of the request, of inputs
    and then outputs, where they are not as they should be. edits: of the request.
    """

    model: int = 0
    inputs: list[int] = []
    outputs: list[int] = []
    way: int = 0
    values: int = 0
    shape: list[int] = msgspec.field(default_factory=lambda: [2, 3])
    claims: list[list[int]] = []
    edits: list[Edit] = []


Step = Prepare | Allocate | Free | Fill | Read | Execute


def is_sendable(step: Step, version: Version) -> bool:
    """True where the numbers fit the types of the version's interface, and are few enough."""
    sizes = _INT32 if version.is_aidl else _UINT32
    match step:
        case Allocate():
            numbers = [number for role in (*step.inputs, *step.outputs) for number in role] + step.dimensions
            longest = max(len(step.models), len(step.inputs), len(step.outputs), len(step.dimensions))
            return all(number in sizes for number in numbers) and longest <= _MOST
        case Fill():
            return all(number in sizes for number in step.dimensions) and len(step.dimensions) <= _MOST
        case Execute():
            claimed = [number for claim in step.claims for number in claim] + step.shape
            places = (*step.inputs, *step.outputs)
            return all(number in sizes for number in claimed) and all(place > -(1 << 31) for place in places)
        case _:
            return True


_SHAPES: tuple[list[int], ...] = (
    [],
    [],
    [2, 3],
    [4, 3],
    [3, 2],
    [0, 3],
    [2, 0],
    [6],
    [1, 2, 3],
    [2, 3, 1],
    [0],
    [-1, 3],
)
_OPEN_SHAPES: tuple[list[int], ...] = ([2, 3], [2, 3], [4, 3], [1, 3], [2, 1])
_MORE = (0, 0, 0, 0, 1, -1, 4, 24, -12)
_PROBABILITIES = (1.0, 1.0, 1.0, 0.5, 0.0, -0.5, 1.5)
_CLAIMS: tuple[list[list[int]], ...] = (
    [[2, 3]],
    [[4, 3]],
    [[], [2, 3]],
    [[], [4, 3]],
    [[], [], [2, 3]],
    [[], [], [4, 3]],
)
NAMES = {"buffer": "buffer", "inputs": "buffer", "outputs": "buffer", "model": "model", "models": "model"}
_PLACES = (SHARED, SHARED, 0, 0, 1, 1, 2, 3, NO_TOKEN, -102)


def histories_of(names: Sequence[str], ways: int) -> Histories[Step]:
    """Histories of models of these names. ways: how many ways to execute there are."""

    def fresh(choices: Choices) -> Step:
        return _fresh(choices, names, ways)

    numbers = tuple(range(BUFFERS))
    integers = {
        "buffer": numbers, "model": tuple(range(MODELS)), "models": (0, 1, 2, 3, 4, NULL, IMPOSTOR),
        "inputs": (*_PLACES, 5, 99), "outputs": (*_PLACES, 5, 99), "dimensions": (0, 1, 2, 3, 4, 6, -1),
        "more": _MORE, "memory": (0, 1, 2), "way": tuple(range(ways)), "claims": (0, 1, 2, 3, 4, 6), "shape": (1, 2, 3),
        "edits": BOUNDARIES,
    }  # fmt: skip
    grammar = Grammar(
        integers=integers, templates={"kind": tuple(names), "probability": _PROBABILITIES, "claims": _CLAIMS}
    )
    return Histories(msgspec.json.Decoder(list[Step]), fresh, grammar, names=NAMES)


def _fresh(choices: Choices, names: Sequence[str], ways: int) -> Step:
    kind, buffer = choices.below(20), choices.pick((0, 0, 1, 1, 2, 3))
    if kind < 5:
        return _allocation(choices, buffer)
    if kind < 8:
        step = Fill(buffer, values=choices.below(9))
        step.dimensions = list(choices.pick(_SHAPES)) if choices.below(2) else []
        step.more, step.memory = choices.pick(_MORE), choices.below(len(MEMORIES))
        return step
    if kind < 10:
        return Read(buffer, choices.pick(_MORE), choices.below(len(MEMORIES)))
    if kind < 17:
        return _execution(choices, ways)
    return Free(buffer) if kind < 19 else Prepare(choices.below(MODELS), choices.pick(names))


def _allocation(choices: Choices, buffer: int) -> Allocate:
    numbers = (0, 0, 0, 1, 1, 2, 3, 4)
    models = [choices.pick(numbers) for _ in range(1 + choices.below(2))]
    odd = choices.below(9)
    if odd == 0:
        models[0] = choices.pick((NULL, IMPOSTOR))

    def roles(most: int) -> list[Role]:
        place = choices.pick((0, 0, 0, 1, 1, 2, -1, 99)) if odd == 1 else choices.pick((0, 0, 1))
        return [(choices.below(len(models)), place) for _ in range(choices.below(most))]

    step = Allocate(buffer, models, roles(3), roles(2))
    step.dimensions = list(choices.pick(_SHAPES)) if choices.below(3) == 1 else []
    step.probability = choices.pick(_PROBABILITIES) if odd == 2 else 1.0
    return step


def _execution(choices: Choices, ways: int) -> Execute:
    step = Execute(choices.pick((0, 0, 0, 1, 1, 2, 3, 4)), way=choices.below(ways), values=choices.below(9))
    step.inputs = [choices.pick(_PLACES[:8]) for _ in range(2)]
    step.outputs = [choices.pick(_PLACES[:8]) for _ in range(1 + choices.below(2))]
    step.shape = list(choices.pick(_OPEN_SHAPES))
    odd = choices.below(6)
    if odd == 0:
        step.claims = [list(choices.pick(_SHAPES)) if choices.below(2) else [] for _ in range(3)]
    elif odd == 1:
        step.inputs[choices.below(2)] = choices.pick((NO_TOKEN, -102, -3))
    elif odd == 2:
        part, name = choices.pick(("inputs", "outputs")), choices.pick(("offset", "length", "drop", "hasNoValue"))
        step.edits = [(part, choices.below(2), name, True if name == "hasNoValue" else choices.pick(BOUNDARIES))]
    return step


def seeds_of(names: Sequence[str], ways: int) -> tuple[bytes, ...]:
    """Histories to begin with."""
    both = Allocate(0, [0], [(0, 0)], [(0, 0)])
    opened = Allocate(0, [1], [(0, 0), (0, 1)], [(0, 0)])
    found: list[list[Step]] = [
        [both, Read(), Execute(0, [0]), Fill(), Read(), Execute(0, [0]), Execute(0, [], [0]), Read()]
    ]
    found += [
        [both, Fill(values=way), Execute(0, [0], [], way), Execute(0, [0], [], way), Execute(0, [], [0], way), Read()]
        for way in range(ways)
    ]
    found += [
        [Prepare(0, name), Allocate(0, [0], [(0, 0)]), Fill(), Execute(0, [0]), Read(), Allocate(1, [0], [], [(0, 0)]),
         Execute(0, [0], [1]), Read(1)]
        for name in names
    ]  # fmt: skip
    found += [
        [both, Allocate(1, [0], [(0, 1)], [(0, 0)]), Fill(), Fill(1, values=3), Execute(0, [0, 1]), Read()],
        [both, Fill(), Fill(more=1), Read(), Fill(dimensions=[3, 2]), Fill(dimensions=[2, 3]), Read(more=1), Read()],
        [opened, Fill(dimensions=[4, 3]), Execute(1, [0], shape=[4, 3], claims=[[4, 3], [4, 3]]), Read()],
        [Allocate(0, [0], [(0, 0)], [], [2, 3], 0.5), Fill(dimensions=[2, 3]), Execute(0, [0], claims=[[2, 3]])],
        [opened, Fill(dimensions=[4, 3]), Read(), Execute(1, [0], [], shape=[4, 3]), Fill(dimensions=[2, 3]), Read(),
         Execute(1, [], [0], shape=[4, 3]), Read(), Execute(1, [0, 0]), Read()],
        [Allocate(0, [1], [(0, 0)], [(0, 0)], [2, 3]), Execute(1, [], [0]), Execute(1, [], [0], shape=[4, 3]), Read()],
        [both, Fill(), Free(), Read(), Execute(0, [0]), Allocate(1, [0], [(0, 0)], [(0, 0)]), Read(1), Execute(0, [0])],
        [both, Fill(), Allocate(1, [0], [(0, 0)], [(0, 0)]), Fill(1), Free(), Read(1), Execute(0, [1])],
        [both, Fill(), Prepare(0, "difference"), Execute(0, [0]), Execute(0, [], [0]), Read()],
        [Allocate(0, [0, 0], [(0, 0), (1, 0)]), Allocate(0, [0, 0], [(0, 0), (1, 1)])],
        [Allocate(0, [0], [(0, 0)], [], [3, 2]), Allocate(0, [0], [(0, 0)], [], [2, 3]), Fill(), Read()],
        [Allocate(0, [3], [(0, 0)], [(0, 0), (0, 1)]), Execute(3, [], [0, 0]), Fill(), Execute(3, [0], [0])],
        [Allocate(0, [0, 3], [(1, 0)], [(0, 0)]), Execute(0, [], [0]), Execute(3, [0]), Execute(0, [0]), Read()],
        [Prepare(4, "fused"), Allocate(0, [4], [(0, 2)]), Fill(values=1), Execute(4, [-1, -1, 0]), Read()],
    ]  # fmt: skip
    events: list[list[Step]] = [[Fill(values=3)], [Fill(more=1)], [Read()], [Read(more=1)], [Execute(0, [], [0])]]
    found += orders([both], events, [Read()])
    return tuple(map(encoded, found))
