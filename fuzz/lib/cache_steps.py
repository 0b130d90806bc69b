"""What happens in a history of compilation caches: the steps, those to begin with, and fresh ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import Histories, encoded, orders
from npu_conformance.fuzz.lib.json_edits import Grammar
from npu_conformance.harness.subject.files import Access
from npu_conformance.specs.neuralnetworks.enums import BYTE_SIZE_OF_CACHE_TOKEN
from npu_conformance.specs.versions import Version

CACHES = 3
"""How many there are in a history; a step names them by their numbers."""
ACCESSES: tuple[Access, ...] = ("read_write", "read", "write")
ODDITIES = ("", "more_model", "less_model", "more_data", "less_data", "two", "none")
"""What is wrong about the handles: a file too many or too few, two descriptors in a handle, or none (HIDL)."""
EDITS = ("flip", "cut", "append", "insert", "zero", "clear", "pad")
_TOKEN = bytes(range(7, 7 + BYTE_SIZE_OF_CACHE_TOKEN))
TOKENS = (
    _TOKEN, bytes([_TOKEN[0] ^ 1]) + _TOKEN[1:], _TOKEN[:-1] + bytes([_TOKEN[-1] ^ 0x80]), bytes(len(_TOKEN)),
    _TOKEN[::-1], b"", _TOKEN[:-1], _TOKEN + b"\0",
)  # fmt: skip
"""The last three have a length that HIDL's tokens cannot have."""
_MOST_STEPS = 12


class Save(msgspec.Struct, tag_field="do", tag="save", forbid_unknown_fields=True, omit_defaults=True):
    """A model is prepared with the files of a cache. moment: after so many writes they become those of `other`."""

    model: str
    cache: int = 0
    token: int = 0
    access: int = 0
    offset: int = 0
    odd: str = ""
    moment: int = 0
    other: int = 1


class Restore(msgspec.Struct, tag_field="do", tag="restore", forbid_unknown_fields=True, omit_defaults=True):
    """A model is prepared from a cache. moment: after so many reads its files become those of `other`.

    mixed: numbers of model-cache files, and behind them of data-cache files, that are those of `other` from the start.
    """

    cache: int = 0
    token: int = 0
    access: int = 0
    offset: int = 0
    odd: str = ""
    moment: int = 0
    other: int = 1
    mixed: list[int] = []


class Damage(msgspec.Struct, tag_field="do", tag="damage", forbid_unknown_fields=True, omit_defaults=True):
    """The content of one file changes. at: a place in it, counted from its end where negative; of `pad` the zeros."""

    cache: int = 0
    file: int = 0
    edit: str = "flip"
    at: int = 0
    value: int = 0


class Copy(msgspec.Struct, tag_field="do", tag="copy", forbid_unknown_fields=True, omit_defaults=True):
    """The content of all files of a cache, or of one, is copied to another."""

    source: int = 0
    target: int = 1
    file: int = -1


class Swap(msgspec.Struct, tag_field="do", tag="swap", forbid_unknown_fields=True, omit_defaults=True):
    """Two files of a cache exchange their contents."""

    cache: int = 0
    one: int = 0
    other: int = 1


class Renew(msgspec.Struct, tag_field="do", tag="renew", forbid_unknown_fields=True, omit_defaults=True):
    """A cache has new files, which are empty."""

    cache: int = 0


Step = Save | Restore | Damage | Copy | Swap | Renew


def is_sendable(step: Step, version: Version) -> bool:
    """True where the version's interface can say it: tokens and handles of AIDL have other lengths."""
    if not isinstance(step, Save | Restore):
        return True
    has_length = len(TOKENS[step.token % len(TOKENS)]) == BYTE_SIZE_OF_CACHE_TOKEN
    is_handle = step.odd not in ("two", "none")
    return (has_length or version.is_aidl) and (is_handle or not version.is_aidl) and 0 <= step.offset < 1 << 20


_PLACES = (0, 1, 11, 12, 28, 60, 61, 100, -1, -2, -20, 300)
NAMES = {"cache": "cache", "source": "cache", "target": "cache", "other": "cache", "token": "token", "file": "file"}
_MOMENTS = (1, 2, 3, 4, 5, 6)


def histories_of(names: Sequence[str]) -> Histories[Step]:
    """Histories of models of these names."""

    def fresh(choices: Choices) -> Step:
        return _fresh(choices, names)

    integers = {
        "cache": (0, 1, 2), "other": (0, 1, 2), "token": tuple(range(len(TOKENS))), "access": (0, 1, 2),
        "offset": (0, 1, 7, 4096), "file": (0, 1, 2, 3), "at": _PLACES, "value": (0, 1, 7, 255),
        "moment": (0, *_MOMENTS), "mixed": (0, 1, 2, 3), "source": (0, 1, 2), "target": (0, 1, 2), "one": (0, 1, 2, 3),
    }  # fmt: skip
    templates = {"model": tuple(names), "odd": ODDITIES, "edit": EDITS}
    grammar = Grammar(integers=integers, templates=templates)
    return Histories(msgspec.json.Decoder(list[Step]), fresh, grammar, most=_MOST_STEPS, names=NAMES)


def _fresh(choices: Choices, names: Sequence[str]) -> Step:
    kind, cache = choices.below(20), choices.pick((0, 0, 0, 1, 1, 2))
    token = choices.pick((0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7))
    if kind < 5:
        return _odd(choices, Save(choices.pick(names), cache, token))
    if kind < 12:
        step = Restore(cache, token)
        step.mixed = [choices.below(4)] if choices.below(6) == 0 else []
        return _odd(choices, step)
    if kind < 15:
        return Damage(cache, choices.below(4), choices.pick(EDITS), _place(choices), choices.below(256))
    if kind < 17:
        return Copy(cache, choices.below(CACHES), choices.pick((-1, -1, 0, 1, 2, 3)))
    return Swap(cache, choices.below(4), choices.below(4)) if kind < 19 else Renew(cache)


def _odd(choices: Choices, step: Save | Restore) -> Step:
    """The step, mostly with something that is not as it should be."""
    kind = choices.below(10)
    step.other = choices.below(CACHES)
    if kind == 0:
        step.access = choices.below(len(ACCESSES))
    elif kind == 1:
        step.offset = choices.pick((1, 7, 4096))
    elif kind == 2:
        step.odd = choices.pick(ODDITIES)
    elif kind < 5:
        step.moment = choices.pick(_MOMENTS)
    return step


def _place(choices: Choices) -> int:
    return choices.pick((*_PLACES, choices.below(4096)))


def seeds_of(names: Sequence[str]) -> tuple[bytes, ...]:
    """Histories to begin with."""
    one, other, *_ = names
    found: list[list[Step]] = [[Save(name), Restore(), Restore()] for name in names]
    found += [[Save(one), Restore(), Damage(edit=edit, at=at), Restore()] for edit in EDITS for at in (0, 40, -1)]
    found += [
        [Save(one), Damage(file=file, edit=edit), Restore()] for file in (1, 2, 3) for edit in ("flip", "cut", "append")
    ]
    found += [[Save(one), Restore(token=token), Restore()] for token in range(1, len(TOKENS))]
    found += [[Save(one, odd=odd), Restore(odd=odd), Restore(), Save(other), Restore(odd=odd)] for odd in ODDITIES[1:]]
    found += [
        [Save(one, access=access), Restore(access=access), Save(other), Restore(access=access)] for access in (1, 2)
    ]
    found += [[Save(one), Save(other, 1, 4), Restore(moment=moment), Restore(), Restore(1, 4)] for moment in _MOMENTS]
    found += [[Save(one, 1, 4), Restore(1, 4), Save(other, moment=moment), Restore()] for moment in _MOMENTS[:4]]
    found += [
        [Save(one), Restore(), Save(other, 1), Restore(1), Restore(mixed=[0]), Restore(mixed=[1]), Restore(mixed=[2])],
        [Save(one), Restore(), Save(other, 1), Copy(1, 0), Restore(), Copy(1, 0, 2), Restore()],
        [Save(one), Restore(), Swap(), Restore(), Swap(), Restore()],
        [Save(names[-1]), Restore(), Renew(), Save(one), Restore(), Save(one, offset=7), Restore(offset=4096)],
        [Save(one), Restore(), Save(names[2]), Restore(), Save(one), Restore()],
        [Save(one), Save(other, 1, 4), Restore(token=4), Restore(1), Restore(1, 4)],
        [Damage(edit="append", at=0, value=200), Save(one), Restore(), Renew(), Restore()],
    ]
    events: list[list[Step]] = [
        [Save(one)],
        [Save(other)],
        [Restore()],
        [Damage(), Restore()],
        [Save(one, 1), Copy(1, 0)],
    ]
    found += orders([], events, [Restore()])
    return tuple(map(encoded, found))
