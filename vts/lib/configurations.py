"""The ways to execute a vector: which there are in a version, and which of them are tried with which vector.

Every vector is executed in the plain ways. Beside these, the first of each operation and combination of types gets a
pairwise cover of all ways, and every other one a single way that follows from its id. In `--scope full` the first get
all, which are hundreds, and the others the cover. In these further ways the constants lie in one layout after the
other.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from npu_conformance.corpus import constant_layouts, vectors
from npu_conformance.corpus.constant_layouts import BESIDE_INPUTS, COPIED
from npu_conformance.corpus.pairwise import cover
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.specs.requirements import requirement
from npu_conformance.specs.versions import Version

SHAPES = ("specified", "unspecified", "unranked", "insufficient")
_SHAPE_REQUIREMENTS = {
    "specified": ("NNHAL-SHAPE-001", "NNHAL-SHAPE-003"),
    "unspecified": ("NNHAL-SHAPE-002", "NNHAL-SHAPE-003", "NNHAL-REQUEST-011"),
    "unranked": ("NNHAL-SHAPE-002", "NNHAL-SHAPE-003", "NNHAL-REQUEST-011"),
    "insufficient": ("NNHAL-SHAPE-004", "NNHAL-SHAPE-005", "NNHAL-SHAPE-006", "NNHAL-SHAPE-008", "NNHAL-ERROR-007"),
}
_TIMING_REQUIREMENTS = {
    False: ("NNHAL-TIMING-001",),
    True: ("NNHAL-TIMING-002", "NNHAL-TIMING-004", "NNHAL-TIMING-005", "NNHAL-TIMING-006"),
}
_EXECUTOR_REQUIREMENTS = {
    "asynchronous": ("NNHAL-EXECUTE-003",),
    "synchronous": ("NNHAL-EXECUTE-006",),
    "synchronous_with_config": ("NNHAL-EXECUTE-006", "NNHAL-EXECUTE-012"),
    "burst": ("NNHAL-BURST-001",),
    "burst_with_config": ("NNHAL-BURST-001",),
    "fenced": ("NNHAL-FENCED-006",),
    "fenced_with_config": ("NNHAL-FENCED-006", "NNHAL-EXECUTE-012"),
    "reusable": ("NNHAL-EXECUTE-014",),
    "reusable_fenced": ("NNHAL-FENCED-006", "NNHAL-EXECUTE-014"),
}
DEVICE = "device"
_MEMORY_REQUIREMENTS = {
    "ashmem": ("NNHAL-MEMORY-001",),
    "mmap_fd": ("NNHAL-MEMORY-001",),
    "hardware_buffer_blob": ("NNHAL-MEMORY-002",),
    DEVICE: ("NNHAL-MEMDOMAIN-032",),
}
_MEMORY_SINCE = {
    "ashmem": Version.V1_0,
    "mmap_fd": Version.V1_0,
    "hardware_buffer_blob": Version.V1_3,
    DEVICE: Version.V1_3,
}
"""Kinds of memory for arguments that a device has to take, and since when; it may decline to have memory of its own."""
_WITHOUT_SHAPES = {"RANK", "IF", "WHILE"}


class Configuration(msgspec.Struct, frozen=True):
    """One way to execute a vector.

    executor: a name of EXECUTORS. shape: of the outputs, one of SHAPES. memory: kind of both pools, or the device's own
    for each argument. compact: arguments lie close together in AIDL, too, without its alignment and padding. read_only:
    the pool of inputs may only be read. repeated: the request is executed a second time. constants: one of the corpus's
    layouts.
    """

    executor: str
    shape: str = "specified"
    measured: bool = False
    example: int = 0
    memory: str = "ashmem"
    compact: bool = False
    read_only: bool = False
    repeated: bool = False
    constants: str = COPIED

    @property
    def name(self) -> str:
        """How it is addressed behind the # of the case: what is not usual is named."""
        parts = [self.executor, self.shape, "timed" if self.measured else "untimed"]
        unusual = {
            self.memory: self.memory != "ashmem",
            "compact": self.compact,
            "read_only": self.read_only,
            "repeated": self.repeated,
            f"constants_{self.constants}": self.constants != COPIED,
            f"example{self.example}": self.example > 0,
        }
        return ".".join([*parts, *(name for name, is_so in unusual.items() if is_so)])

    @functools.cache  # noqa: B019 - as many as there are configurations
    def requirements(self, version: Version) -> tuple[str, ...]:
        """What it is evidence for in a version."""
        found = [*_SHAPE_REQUIREMENTS[self.shape], *_TIMING_REQUIREMENTS[self.measured], "NNHAL-EXECUTE-008"]
        found += [*_EXECUTOR_REQUIREMENTS.get(self.executor, ()), *_MEMORY_REQUIREMENTS[self.memory]]
        more = {
            "NNHAL-EXECUTE-010": self.read_only,
            "NNHAL-EXECUTE-011": not self.compact,
            "NNHAL-EXECUTE-018": self.repeated,
            "NNHAL-MODEL-031": self.constants != COPIED,
        }
        found += [name for name, is_so in more.items() if is_so]
        return tuple(name for name in found if requirement(name).applies(version))


def configurations(vector: Vector, case_id: str, version: Version, scope: Scope) -> Iterator[Configuration]:
    """The ways in which a case executes its vector, each once; of a variation, by default, the plain ones alone."""
    shapes = SHAPES if _has_shapes(vector, version) else SHAPES[:1]
    plain = list(_plain(vector, version, shapes))
    yield from plain
    if scope is Scope.SMOKE or (scope is Scope.DEFAULT and case_id.endswith("]")):
        return
    space, is_first = _space(version, shapes), _is_first(vector, case_id)
    if is_first and scope is Scope.FULL:
        chosen: Sequence[Configuration] = space
    elif is_first or scope is Scope.FULL:
        chosen = _cover(version, shapes)
    else:
        chosen = (space[zlib.crc32(case_id.encode()) % len(space)],)
    layouts = constant_layouts.possible(count_of_constants(vector))
    spread = _with_layouts(chosen, layouts, _place(vector))
    yield from (one for one in spread if one not in plain)


def count_of_constants(vector: Vector) -> int:
    """How many constants of at least one byte a vector has."""
    values = (operand.value for graph in vector.graphs for operand in graph.operands.values())
    return sum(1 for value in values if value is not None and value.nbytes)


def _with_layouts(chosen: Sequence[Configuration], layouts: Sequence[str], first: int) -> Iterator[Configuration]:
    """Each way with the next layout of constants; only inputs that can be written lie in a pool with constants."""
    for place, one in enumerate(chosen):
        layout = layouts[(first + place) % len(layouts)]
        is_alone = layout == BESIDE_INPUTS and (one.memory == DEVICE or one.read_only)
        yield replace(one, constants=constant_layouts.POOLED if is_alone else layout)


def _plain(vector: Vector, version: Version, shapes: Sequence[str]) -> Iterator[Configuration]:
    """Every example in the usual way, timed too where outputs are specified, then the first one in HIDL's other way."""
    usual, *others = executors(version)
    for shape in shapes:
        for measured in (False, True) if version >= Version.V1_2 and shape == SHAPES[0] else (False,):
            for example in range(len(vector.examples)):
                if shape != "unranked":
                    yield Configuration(usual, shape, measured, example)
    if "asynchronous" in others:
        yield Configuration("asynchronous")


@functools.cache
def _space(version: Version, shapes: tuple[str, ...]) -> tuple[Configuration, ...]:
    """Every way that a version has, with the first example."""
    memory = [kind for kind, since in _MEMORY_SINCE.items() if since <= version]
    measured = (False, True) if version >= Version.V1_2 else (False,)
    aidl = (False, True) if version.is_aidl else (False,)
    rows = itertools.product(executors(version), shapes, measured, (0,), memory, aidl, aidl, (False, True))
    return tuple(one for one in itertools.starmap(Configuration, rows) if _is_possible(one, version))


def _is_possible(one: Configuration, version: Version) -> bool:
    """HIDL's packets name no memory of the device, in which there is neither a layout nor room that could lack."""
    if one.memory != DEVICE:
        return True
    is_packet = one.executor == "burst" and not version.is_aidl
    return one.shape == "specified" and not (one.compact or one.read_only or is_packet)


@functools.cache
def _cover(version: Version, shapes: tuple[str, ...]) -> tuple[Configuration, ...]:
    """Few ways in which every two values of two properties come together."""
    rows = {_values(one): one for one in _space(version, shapes)}
    return tuple(rows[row] for row in cover(list(rows)))


def _values(one: Configuration) -> tuple[object, ...]:
    return (one.executor, one.shape, one.measured, one.memory, one.compact, one.read_only, one.repeated)


def _has_shapes(vector: Vector, version: Version) -> bool:
    operations = (operation.type for graph in vector.graphs for operation in graph.operations)
    return version >= Version.V1_2 and not _WITHOUT_SHAPES.intersection(operations)


def _is_first(vector: Vector, case_id: str) -> bool:
    """True for a stored vector that is the first of its operation with its types; never for a variation."""
    return "[" not in case_id and vector.name in _first_names(vector.operation)


def _place(vector: Vector) -> int:
    """Which of its operation's vectors it is; any number for one that is not stored."""
    return _places(vector.operation).get(vector.name, zlib.crc32(vector.name.encode()))


@functools.cache
def _places(operation: str) -> dict[str, int]:
    headers = vectors.headers(operation) if operation in vectors.operations() else ()
    return {header.name: place for place, header in enumerate(headers)}


@functools.cache
def _first_names(operation: str) -> frozenset[str]:
    if operation not in vectors.operations():
        return frozenset()
    positive = [header for header in vectors.headers(operation) if header.rejected is None]
    return frozenset({header.types: header.name for header in reversed(positive)}.values())
