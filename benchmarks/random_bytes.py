"""The plain search that guided ones are compared with: bytes of seeds changed at random, as a generic fuzzer does.

It knows neither the structure of an input nor what an input has shown.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Target

_MOST_DOUBLINGS = 4
"""An input has 1, 2, 4 or 8 edits: more of them leave no JSON that could be read."""
_LONGEST_SPAN = 16
"""Bytes that one edit inserts, deletes or copies at most."""


def search(target: Target, attack: Callable[[bytes], object], *, seed: int) -> None:
    """Attack with every seed as it is, then with changed ones, until the attack ends it."""
    seeds, source = list(target.seeds), random.Random(seed)
    for data in seeds:
        attack(data)
    while True:
        attack(changed(source.choice(seeds), seeds, source))


def changed(data: bytes, seeds: Sequence[bytes], source: random.Random) -> bytes:
    """The bytes with some edits at random places."""
    made = bytearray(data)
    for _ in range(1 << source.randrange(_MOST_DOUBLINGS)):
        source.choice(_EDITS)(made, seeds, source)
    return bytes(made[:LARGEST_INPUT])


def _flip(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    if data:
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def _set(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    if data:
        data[source.randrange(len(data))] = source.randrange(256)


def _insert(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    place = source.randint(0, len(data))
    data[place:place] = source.randbytes(source.randint(1, _LONGEST_SPAN))


def _delete(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    place = source.randint(0, len(data))
    del data[place : place + source.randint(1, _LONGEST_SPAN)]


def _copy(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    start, place = source.randint(0, len(data)), source.randint(0, len(data))
    data[place:place] = data[start : start + source.randint(1, _LONGEST_SPAN)]


def _splice(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    other = source.choice(seeds)
    data[source.randint(0, len(data)) :] = other[source.randint(0, len(other)) :]


_EDITS = (_flip, _set, _insert, _delete, _copy, _splice)
