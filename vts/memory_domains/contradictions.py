"""allocate: of descriptor and roles any two may contradict each other, whatever the others leave open or agree on."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import ADDITIONS
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    Allocation,
    BufferFixture,
    Shape,
    in_each_type,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_ROLES = 3
_PAIRS = tuple(itertools.combinations(range(1 + _ROLES), 2))
"""Sides that contradict each other: 0 is the descriptor, the others are roles."""
_CONTRADICTIONS: dict[str, tuple[Shape, Shape, tuple[Shape, ...]]] = {
    "rows": ((3, 2), (4, 2), ((0, 2), (0, 0))),
    "columns": ((3, 2), (3, 4), ((3, 0), (0, 0))),
    "half_open_rows": ((3, 0), (4, 0), ((0, 2), (0, 0))),
    "half_open_columns": ((0, 2), (0, 4), ((3, 0), (0, 0))),
    "rank": ((3, 2), (6,), ((),)),
}
"""Two shapes that contradict each other, and what the other sides may say beside them."""
_DIRECTIONS = ((True, True, True), (False, False, False), (True, False, True), (False, True, False))
"""Whether each role is an input."""


def _allocation(models: list[PreparedModel], directions: tuple[bool, ...], dimensions: Shape = ()) -> Allocation:
    """A role of each model: its first input, or its output."""
    inputs = tuple((at, 0) for at, is_input in enumerate(directions) if is_input)
    outputs = tuple((at, 0) for at, is_input in enumerate(directions) if not is_input)
    return Allocation(tuple(models), inputs, outputs, dimensions)


def _sides(one: Shape, other: Shape, beside: Shape, pair: tuple[int, int]) -> list[Shape]:
    shapes = [beside] * (1 + _ROLES)
    shapes[pair[0]], shapes[pair[1]] = one, other
    return shapes


class _Models:
    """A model of each shape and place, prepared when it is needed first."""

    def __init__(self, fixture: BufferFixture) -> None:
        self._prepared: Callable[[Shape, int], PreparedModel] = functools.cache(
            lambda shape, place: fixture.prepare(dimensions=shape)
        )

    def asked(self, shapes: list[Shape], directions: tuple[bool, ...]) -> Allocation:
        """An allocation by the shape of the descriptor and of each role."""
        models = [self._prepared(shape, place) for place, shape in enumerate(shapes[1:])]
        return _allocation(models, directions, shapes[0])


def _wanted(models: _Models, name: str, *, agreeing: bool) -> Iterator[tuple[str, Allocation]]:
    one, other, others = _CONTRADICTIONS[name]
    for pair, beside, directions in itertools.product(_PAIRS, others, _DIRECTIONS):
        shapes = _sides(one, one if agreeing else other, beside, pair)
        kinds = ["input" if is_input else "output" for is_input in directions]
        yield (
            f"descriptor {shapes[0]}, {dict(enumerate(zip(kinds, shapes[1:], strict=True)))}",
            models.asked(shapes, directions),
        )


@cases.case("allocate.contradicting_pair", "NNHAL-MEMDOMAIN-012", "NNHAL-MEMDOMAIN-002", since=_SINCE)
def contradicting_pair(context: CaseContext) -> None:
    """allocate is rejected where any two of descriptor and roles contradict each other; the others agree with both."""
    fixture = BufferFixture(context, addition.supported(context))
    models = _Models(fixture)
    for name in _CONTRADICTIONS:
        with context.configuration(name):
            for what, allocation in _wanted(models, name, agreeing=False):
                checks.raises_status(
                    functools.partial(allocation.ask, fixture.device), {INVALID, GENERAL}, f"allocate with {what}"
                )


@cases.case("allocate.agreeing_pair", "NNHAL-MEMDOMAIN-003", "NNHAL-MEMDOMAIN-012", since=_SINCE)
def agreeing_pair(context: CaseContext) -> None:
    """Where two of descriptor and roles say the same, and the others leave it open, a buffer comes, or is declined."""
    fixture = BufferFixture(context, addition.supported(context))
    models, granted = _Models(fixture), 0
    for name in _CONTRADICTIONS:
        with context.configuration(name):
            for _, allocation in _wanted(models, name, agreeing=True):
                try:
                    fixture.allocate_as(allocation)
                except NotApplicable:
                    continue
                granted += 1
    if not granted:
        raise NotApplicable("the device declines to allocate a buffer for any of the roles")


@cases.case("allocate.one_of_three_differs", "NNHAL-MEMDOMAIN-011", "NNHAL-MEMDOMAIN-002", since=_SINCE)
@in_each_type
def one_of_three_differs(fixture: BufferFixture) -> None:
    """allocate is rejected where one of three roles has another type, scale or zero point, be it the last."""
    alike = [fixture.prepare() for _ in range(_ROLES)]
    others = _others(fixture)
    if not others:
        raise NotApplicable("the device adds no other type that is quantised, or not, as this one is")
    for what, other in others.items():
        for place, directions in itertools.product(range(_ROLES), _DIRECTIONS):
            models = [*alike[:place], other, *alike[place + 1 :]]
            checks.raises_status(
                functools.partial(_allocation(models, directions).ask, fixture.device),
                {INVALID, GENERAL},
                f"allocate with three roles, of which number {place} has another {what}",
            )


def _others(fixture: BufferFixture) -> dict[str, PreparedModel]:
    """Models that differ from the fixture's in one thing."""
    chosen, context = fixture.chosen, fixture.context
    alike = [one for one in ADDITIONS if bool(one.scale) == bool(chosen.scale) and one is not chosen]
    found = {}
    for one in alike:
        if one.since <= context.version and all(context.supported_operations(one.model())):
            found["type"] = BufferFixture(context, one).prepare(dimensions=(fixture.elements,))
    if chosen.scale:
        found["scale"] = fixture.prepare(scale=2 * chosen.scale, zero_point=chosen.zero_point)
        found["zero point"] = fixture.prepare(zero_point=chosen.zero_point + 3)
    return found
