"""What happens in a history of bursts: the steps, those to begin with, and fresh ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import Histories, encoded, orders
from npu_conformance.fuzz.lib.json_edits import ALIASES, Grammar
from npu_conformance.fuzz.lib.request_edits import BOUNDARIES, FIELDS, Edit
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS
from npu_conformance.specs.versions import Version

BURSTS, MEMORIES = 3, 4
"""How many there are in a history; a step names them by their numbers."""
FIRST, SECOND = "first", "second"
"""Vectors that no name tells: those that the device prepares first, since no driver has all types and operations."""
HALF = 1024
"""Where the outputs of a vector begin in their memory, so that one memory can hold inputs and outputs."""
OPERATIONS = (
    "ADD", "SPLIT", "TOPK_V2", "CONCATENATION", "SELECT", "EMBEDDING_LOOKUP", "HASHTABLE_LOOKUP", "LSTM", "EQUAL",
    "WHILE", "IF", "TRANSPOSE", "QUANTIZED_LSTM", "CAST", "SOFTMAX", "FILL",
)  # fmt: skip
"""Whose vectors are executed: several inputs and outputs, each element size, omitted inputs, no input at all."""
SURE_NS = 1_000_000_000
"""Loop timeouts from here on are not reached by loops of some rounds."""
FAR_NS = 1 << 62
"""Deadlines from here on do not come."""
_INT32, _INT64 = range(-(1 << 31), 1 << 31), range(-(1 << 63), 1 << 63)
_MOST_POOLS = 6
PacketEdit = tuple[str, int, int]
"""`drop`, `double`, `swap`, `insert`, `byte` or `cut`; an element, a byte or a length; another one, or a value."""


class Open(msgspec.Struct, tag_field="do", tag="open", forbid_unknown_fields=True, omit_defaults=True):
    """A burst of a vector's prepared model is configured; the one that had its number is closed. twin: of another one.

    twin: there are two prepared models of each vector.
    """

    vector: str
    """OPERATION/NAME, or one of FIRST and SECOND."""
    burst: int = 0
    twin: bool = False


class Close(msgspec.Struct, tag_field="do", tag="close", forbid_unknown_fields=True, omit_defaults=True):
    """The client lets go of a burst."""

    burst: int = 0


class Execute(msgspec.Struct, tag_field="do", tag="execute", forbid_unknown_fields=True, omit_defaults=True):
    """A request of the burst's vector. tokens: AIDL's tokens, HIDL's slots. memories: of the pools.

    A negative memory is a token of device memory that nobody has allocated. edits: of the request. packet: of HIDL's
    packet. plain: outside of the burst. blank: inputs are zeros. config: the newer call. unknown: the client forgets
    its slots beforehand.
    """

    burst: int = 0
    tokens: list[int] = msgspec.field(default_factory=lambda: [0, 1])
    memories: list[int] = msgspec.field(default_factory=lambda: [0, 1])
    edits: list[Edit] = []
    packet: list[PacketEdit] = []
    measure: bool = False
    deadline: int = -1
    loop: int = -1
    config: bool = False
    plain: bool = False
    blank: bool = False
    unknown: bool = False


class Release(msgspec.Struct, tag_field="do", tag="release", forbid_unknown_fields=True, omit_defaults=True):
    """The memory of a token is released."""

    token: int = 0
    burst: int = 0


class Renew(msgspec.Struct, tag_field="do", tag="renew", forbid_unknown_fields=True, omit_defaults=True):
    """The client frees a memory, and another one has its number from now on."""

    memory: int = 0


Step = Open | Close | Execute | Release | Renew


def is_sendable(step: Step, version: Version) -> bool:
    """True where the numbers fit the types of the version's interface, and are few enough."""
    names = _INT64 if version.is_aidl else _INT32
    match step:
        case Release(token):
            return token in names
        case Execute():
            has_device_memory = any(memory < 0 for memory in step.memories)
            is_known = version.is_aidl or step.plain or (not has_device_memory and step.tokens != [])
            times = (step.deadline in _INT64) and (step.loop in _INT64)
            tokens = all(token in names for token in step.tokens)
            sizes = max(len(step.tokens), len(step.memories)) <= _MOST_POOLS
            return is_known and times and tokens and sizes and all(memory in _INT32 for memory in step.memories)
        case _:
            return True


_TOKENS = (0, 0, 1, 1, 2, 3, 4, 7, 1 << 40, (1 << 63) - 1, *(1 + alias for alias in ALIASES))
_ODD_TOKENS = (-1, -1, -1, -2, -(1 << 63), (1 << 31) - 1)
NAMES = {"burst": "burst", "token": "token", "tokens": "token", "memory": "memory", "memories": "memory"}
_NUMBERS = (0, 0, 0, 1, 1, 2, 3)
_RELATIVE = ("+1", "-1", "+4", "-4", "+64", "+1024", "-1024", "+2048")
_DEADLINES = (-1, -1, -1, 0, 1, FAR_NS, (1 << 63) - 1, -2, -(1 << 63))
_LOOPS = (-1, -1, -1, SURE_NS, MAXIMUM_LOOP_TIMEOUT_DURATION_NS, MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1, -2, 0)
_EDITS: tuple[PacketEdit, ...] = (
    ("drop", 0, 0), ("double", 1, 0), ("swap", 1, 2), ("insert", 0, 0), ("byte", 4, 255), ("cut", 24, 0),
)  # fmt: skip


def histories_of(names: Sequence[str]) -> Histories[Step]:
    """Histories of bursts of the vectors of these names."""

    def fresh(choices: Choices) -> Step:
        return _fresh(choices, names)

    integers = {
        "tokens": (*_TOKENS, *_ODD_TOKENS), "token": (*_TOKENS, *_ODD_TOKENS), "memories": (0, 1, 2, 3, -1, -100),
        "memory": (0, 1, 2, 3), "burst": (0, 1, 2), "deadline": _DEADLINES, "loop": _LOOPS,
        "packet": (0, 1, 4, 24, 255), "edits": (*BOUNDARIES, 2047, 2048),
    }  # fmt: skip
    grammar = Grammar(integers=integers, templates={"vector": tuple(names)})
    return Histories(msgspec.json.Decoder(list[Step]), fresh, grammar, names=NAMES)


def _fresh(choices: Choices, names: Sequence[str]) -> Step:
    kind, burst = choices.below(16), choices.pick((0, 0, 0, 1, 2))
    if kind < 10:
        return _execution(choices, burst)
    if kind < 12:
        return Release(choices.pick((*_TOKENS, -1, -2)), burst)
    if kind < 14:
        return Open(choices.pick(names), burst, choices.below(4) == 1)
    return Renew(choices.pick(_NUMBERS)) if kind == 14 else Close(burst)


def _execution(choices: Choices, burst: int) -> Execute:
    odd = _ODD_TOKENS if choices.below(4) == 0 else ()
    tokens = [choices.pick((*_TOKENS, *odd)) for _ in range(2)]
    memories = [choices.pick(_NUMBERS) for _ in range(2)]
    step = Execute(burst, tokens, memories)
    kind = choices.below(12)
    if kind < 3:
        step.edits = [_edit(choices) for _ in range(1 + choices.below(2))]
    elif kind == 3:
        step.tokens, step.memories = step.tokens[: choices.below(3)], step.memories[:2]
    elif kind == 4:
        step.tokens = [*tokens, choices.pick(_TOKENS)]
        step.memories = [*memories, choices.pick((0, 1, 2, -1, -100))][: 2 + choices.below(2)]
    elif kind == 5:
        step.deadline, step.loop = choices.pick(_DEADLINES), choices.pick(_LOOPS)
    elif kind == 6:
        step.packet = [(choices.pick(_EDITS)[0], choices.below(16), choices.below(256))]
    step.measure, step.blank = choices.below(4) == 1, choices.below(6) == 1
    step.config, step.plain, step.unknown = (choices.below(size) == 1 for size in (4, 8, 10))
    return step


def _edit(choices: Choices) -> Edit:
    part, index = choices.pick(("inputs", "outputs")), choices.pick((0, 0, 1, 2))
    name = choices.pick(FIELDS)
    if name == "dimensions":
        return part, index, name, [choices.pick((0, 1, 2, 3, -1)) for _ in range(choices.below(4))]
    if name == "hasNoValue":
        return part, index, name, True
    if name == "poolIndex":
        return part, index, name, choices.pick((0, 1, 2, -1))
    return part, index, name, choices.pick((*_RELATIVE, *_RELATIVE, *BOUNDARIES))


def seeds_of(names: Sequence[str], version: Version) -> tuple[bytes, ...]:
    """Histories to begin with: of the vectors of these names, and of those that the device prepares first."""
    one, other = FIRST, SECOND
    swapped = Execute(0, [1, 0], [1, 0])
    found: list[list[Step]] = [
        [Open(name), Execute(), Execute(0, [0, 1], [0, 1], blank=True), Execute()] for name in names
    ]
    found += [
        [Open(one), Execute(), Release(0), Execute(0, [0, 1], [2, 1]), Release(1), Execute(0, [0, 1], [2, 3])],
        [Open(one), Open(other, 1), Execute(), Execute(1, [0, 1], [2, 3]), Execute(), Release(0), Execute(1)],
        [Open(one), Open(one, 1), Open(one, 2, True), Execute(), Execute(1, [0, 1], [1, 0]), Execute(2, [1, 0])],
        [Open(one), Execute(), Close(), Open(one), Execute(0, [0, 1], [2, 3]), Execute(plain=True)],
        [Open(one), Execute(), Release(0), Release(1), Renew(0), Renew(1), Execute(), swapped],
        [Open(one), Execute(0, [5, 5], [0, 0]), Execute(0, [5, 6], [0, 1]), Release(5), Release(5), Release(9)],
        [Open(one), Execute(edits=[("inputs", 0, "offset", "+2048")]), Execute(), Execute(edits=[_LATER])],
        [Open(one), Execute(measure=True), Execute(deadline=FAR_NS), Execute(loop=SURE_NS, plain=True), Execute()],
        [Open(one), Execute(0, [0, 1, 2, 3], [0, 1, 2, 3]), Execute(0, [2, 3], [2, 3]), Release(2), Execute()],
    ]
    used, refused, anew = Execute(0, [5, 6]), Execute(0, [5], [0]), Execute(0, [5, 6], [2, 1])
    found += orders([Open(one)], [[used], [refused], [anew], [Release(5)]], [anew])
    if version.is_aidl:
        found += [
            [Open(one), Execute(0, [-1, -1]), Execute(0, [-1, 0], [2, 3]), Execute(0, [-1, 0], [1, 3])],
            [Open(one), Execute(0, [0, 1, -1], [0, 1, -100]), Execute(config=True), Execute(0, [0])],
        ]
    else:
        found += [[Open(one), Execute(packet=[edit]), Execute()] for edit in _EDITS]
        found += [[Open(one), Execute(), Execute(0, [3, 4], unknown=True), Execute(unknown=True)]]
    return tuple(map(encoded, found))


_LATER: Edit = ("outputs", 0, "offset", "+64")
