"""How a vector is taken through the runtime: which configurations there are, and which of them each vector gets.

Every vector runs in one that follows from its id. The first vectors of an operation, one for each combination of types,
also run in the plain one and share a pairwise cover of all. In `--scope full` each first one gets all there are, and
every other vector the cover.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from npu_conformance.corpus.pairwise import cover
from npu_conformance.corpus.vectors import Vector
from npu_conformance.cts.lib.runtime.first_vectors import first_names, is_first
from npu_conformance.cts.lib.runtime.ways import WAYS, ways
from npu_conformance.harness.run.cases import Scope
from npu_conformance.specs.versions import OLDEST, Version

POINTERS, OBJECTS, DEVICE = "pointers", "objects", "device"
DEFAULT, EXPLICIT = "default", "explicit"
ONCE, AGAIN, REUSED, CACHED = "once", "again", "reused", "cached"

_MEMORY_SINCE = {POINTERS: OLDEST, OBJECTS: OLDEST, DEVICE: Version.V1_3}
_REPEATED_SINCE = {ONCE: OLDEST, AGAIN: OLDEST, REUSED: Version.FL5, CACHED: Version.V1_2}
_REQUIREMENTS = {
    DEVICE: ("FW-GEN-007", "FW-MEM-009"),
    REUSED: ("FW-EXE-003",),
    CACHED: ("FW-GEN-002",),
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to take a vector through the runtime.

    way: one of `ways`. devices: DEFAULT, or EXPLICIT for the first one alone that is not the runtime's own CPU. memory:
    of the arguments; DEVICE is memory from descriptors. hidden: the model leaves the shapes of its outputs open.
    repeated: AGAIN by a second execution, REUSED by the same one, CACHED by a second compilation with the same token.
    pooled: constants lie in a memory object. example: number of the vector's example.
    """

    way: str
    devices: str = DEFAULT
    memory: str = POINTERS
    hidden: bool = False
    repeated: str = ONCE
    pooled: bool = False
    example: int = 0

    @property
    def name(self) -> str:
        """How it is addressed behind the # of the case: what is not usual is named."""
        unusual = {
            self.devices: self.devices != DEFAULT,
            self.memory: self.memory != POINTERS,
            "hidden": self.hidden,
            self.repeated: self.repeated != ONCE,
            "pooled": self.pooled,
            f"example{self.example}": self.example > 0,
        }
        return ".".join([self.way, *(name for name, is_so in unusual.items() if is_so)])

    @property
    def requirements(self) -> tuple[str, ...]:
        """What it is evidence for."""
        found = [*WAYS[self.way].requirements, *_REQUIREMENTS.get(self.memory, ())]
        found += _REQUIREMENTS.get(self.repeated, ())
        if self.hidden:
            found.append("FW-GEN-004" if WAYS[self.way].finds_shapes else "FW-EXE-022")
        return tuple(dict.fromkeys(found))


def configurations(
    vector: Vector, case_id: str, level: Version, scope: Scope, *, explicit: bool, caching: bool = True
) -> Iterator[Configuration]:
    """The configurations of a case, each once.

    explicit: there is a device beside the CPU to name. caching: compilations can be cached.
    """
    usual, space = ways(level)[0], _space(level, explicit, caching)
    firsts = first_names(vector.operation) if is_first(vector, case_id) else ()
    plain = [Configuration(usual, example=number) for number in range(len(vector.examples))]
    chosen: Sequence[Configuration] = (space[zlib.crc32(case_id.encode()) % len(space)],)
    if scope is Scope.FULL:
        chosen = space if firsts else _cover(level, explicit, caching)
    elif firsts:
        chosen = _cover(level, explicit, caching)[firsts.index(vector.name) :: len(firsts)]
    if scope is not Scope.DEFAULT or firsts or len(plain) > 1:
        yield from plain
    if scope is not Scope.SMOKE:
        yield from (one for one in chosen if one not in plain)


@functools.cache
def _space(level: Version, explicit: bool, caching: bool) -> tuple[Configuration, ...]:
    """Every configuration of a feature level, with the first example."""
    memories = [memory for memory, since in _MEMORY_SINCE.items() if since <= level]
    repeats = [one for one, since in _REPEATED_SINCE.items() if since <= level and (caching or one != CACHED)]
    devices = (DEFAULT, EXPLICIT) if explicit and level >= Version.V1_2 else (DEFAULT,)
    hidden = (False, True) if level >= Version.V1_2 else (False,)
    rows = itertools.product(ways(level), devices, memories, hidden, repeats, (False, True))
    return tuple(one for one in itertools.starmap(Configuration, rows) if _is_possible(one))


def _is_possible(one: Configuration) -> bool:
    """What must be refused is asked once, and memory from a descriptor is of a known shape."""
    if one.hidden and one.memory == DEVICE:
        return False
    return not one.hidden or WAYS[one.way].finds_shapes or one.repeated == ONCE


@functools.cache
def _cover(level: Version, explicit: bool, caching: bool) -> tuple[Configuration, ...]:
    """Few configurations in which every two values of two properties come together."""
    rows = {_values(one): one for one in _space(level, explicit, caching)}
    return tuple(rows[row] for row in cover(list(rows)))


def _values(one: Configuration) -> tuple[object, ...]:
    return (one.way, one.devices, one.memory, one.hidden, one.repeated, one.pooled)
