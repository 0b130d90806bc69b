"""Clauses of operations that move blocks, rows and slices: a sound call, and one edit that breaks just that clause."""

from __future__ import annotations

import pytest
from operation_calls import Broken, Call, Given, f, i, q, v, view

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.types import Operand
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

SOUND: dict[str, Call] = {
    "DEPTH_TO_SPACE": {"input": f(1, 2, 3, 8), "block": i(2), "out": f(1, 4, 6, 2)},
    "SPACE_TO_DEPTH": {"input": f(1, 4, 6, 2), "block": i(2), "out": f(1, 2, 3, 8)},
    "BATCH_TO_SPACE_ND": {"input": f(6, 2, 3, 4), "block": v(2, 3), "out": f(1, 4, 9, 4)},
    "SPACE_TO_BATCH_ND": {
        "input": f(1, 3, 9, 4),
        "block": v(2, 3),
        "paddings": v([1, 0], [0, 0]),
        "out": f(6, 2, 3, 4),
    },
}
PADDED = SOUND["SPACE_TO_BATCH_ND"] | {"input": q(1, 3, 9, 4), "out": q(6, 2, 3, 4)}
EMPTY = f(shape=(0, 4, 6, 8))
SHIFTED = {"out": q(1, 2, 2, 4, zero=1)}


def broken(clause: str, changes: Call, sound: Call | None = None, version: Version = Version.FL8) -> Broken:
    name = clause.partition(".")[0]
    return Broken(clause, changes, SOUND[name] if sound is None else sound, version)


def rows(*numbers: str, **changes: Given) -> list[Broken]:
    """The same edit for clauses of several operations."""
    return [broken(number, changes) for number in numbers]


BROKEN = [
    *rows("DEPTH_TO_SPACE.C1", "SPACE_TO_DEPTH.C1", "BATCH_TO_SPACE_ND.C1", input=f(2, 3, 8), out=f()),
    *rows("SPACE_TO_BATCH_ND.C1", input=f(2, 3, 8), out=f()),
    *rows("DEPTH_TO_SPACE.C2", "SPACE_TO_DEPTH.C2", block=i(0)),
    *rows("DEPTH_TO_SPACE.C2", "SPACE_TO_DEPTH.C2", block=i(-2)),
    *rows("DEPTH_TO_SPACE.C3", input=f(1, 2, 3, 6), out=f()),
    *rows("SPACE_TO_DEPTH.C3", input=f(1, 5, 6, 2), out=f()),
    *rows("SPACE_TO_DEPTH.C3", input=f(1, 4, 3, 2), out=f()),
    *rows("DEPTH_TO_SPACE.C4", "SPACE_TO_DEPTH.C4", "BATCH_TO_SPACE_ND.C5", input=EMPTY, out=f()),
    *rows("SPACE_TO_BATCH_ND.C8", input=EMPTY, block=v(1, 1), out=f()),
    *rows("DEPTH_TO_SPACE.C5", "SPACE_TO_DEPTH.C5", "BATCH_TO_SPACE_ND.C6", "SPACE_TO_BATCH_ND.C9", out=f(1, 4, 5, 2)),
    *[
        broken(clause, SHIFTED, {"input": q(1, 2, 2, 4), "block": i(1), "out": q(1, 2, 2, 4)})
        for clause in ("DEPTH_TO_SPACE.C6", "SPACE_TO_DEPTH.C6")
    ],
    broken("BATCH_TO_SPACE_ND.C7", SHIFTED, {"input": q(1, 2, 2, 4), "block": v(1, 1), "out": q(1, 2, 2, 4)}),
    broken("SPACE_TO_BATCH_ND.C10", {"out": q(6, 2, 3, 4, zero=1)}, PADDED),
    *rows("BATCH_TO_SPACE_ND.C2", "SPACE_TO_BATCH_ND.C2", block=v(2)),
    *rows("BATCH_TO_SPACE_ND.C3", "SPACE_TO_BATCH_ND.C3", block=v(2, 0)),
    *rows("BATCH_TO_SPACE_ND.C4", input=f(4, 2, 3, 4), out=f()),
    *rows("SPACE_TO_BATCH_ND.C4", paddings=v([1, 0])),
    *rows("SPACE_TO_BATCH_ND.C4", paddings=v([1], [0], [0], [0])),
    *rows("SPACE_TO_BATCH_ND.C5", paddings=v([2, -1], [0, 0])),
    *rows("SPACE_TO_BATCH_ND.C6", paddings=v([0, 0], [0, 0]), out=f()),
    *rows("SPACE_TO_BATCH_ND.C6", paddings=v([1, 0], [0, 1]), out=f()),
    broken(
        "SPACE_TO_BATCH_ND.C7",
        {"input": q(1, 3, 9, 4, zero=3), "out": q(6, 2, 3, 4, zero=3)},
        PADDED,
        Version.V1_1,
    ),
]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call_breaks_nothing(name: str) -> None:
    assert check_operation(view(name, Version.FL8, SOUND[name])) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_an_edit_breaks_one_clause(case: Broken) -> None:
    name = case.clause.partition(".")[0]
    assert check_operation(view(name, case.version, case.sound)) == []
    (violation,) = check_operation(view(name, case.version, case.sound | case.changes))
    assert violation.clause == case.clause


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_what_is_unknown_breaks_nothing(case: Broken) -> None:
    name = case.clause.partition(".")[0]
    (clause,) = [clause for clause in rules.clauses(name) if clause.id == case.clause]
    call = {key: unknown(given) for key, given in (case.sound | case.changes).items()}
    assert (clause.check(view(name, case.version, call)) is None) == (clause.phase == "execution")


def unknown(given: Given) -> Given:
    """The operand without its value and shape."""
    old = given.operand
    return Given(Operand(old.type, (), old.scale, old.zero_point, extra_params=old.extra_params))


def test_every_clause_is_broken_by_an_edit() -> None:
    assert {case.clause for case in BROKEN} == {clause.id for name in SOUND for clause in rules.clauses(name)}
