"""Clauses of operations that move blocks, rows and slices: a sound call, and one edit that breaks just that clause."""

from __future__ import annotations

import pytest
from operation_calls import Broken, Call, f, i, q, v
from rule_checks import Edits, broken_by, broken_while_unknown, broken_without_and_with, seen_while_unknown

from npu_conformance.specs.neuralnetworks import rules
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
    "EXPAND_DIMS": {"input": f(2, 3), "axis": i(-1), "out": f(2, 3, 1)},
    "TILE": {"input": f(2, 3), "multiples": v(1, 2), "out": f(2, 6)},
    "GATHER": {"input": f(2, 3), "axis": i(-1), "indices": v(2, 0), "out": f(2, 2)},
    "REVERSE": {"input": f(2, 3), "axis": v(1), "out": f(2, 3)},
    "PACK": {"axis": i(2), "a": f(2, 3), "b": f(2, 3), "out": f(2, 3, 2)},
    "MIRROR_PAD": {"input": f(2, 3), "paddings": v([1, 0], [0, 2]), "mode": i(0), "out": f(3, 5)},
    "EMBEDDING_LOOKUP": {"lookups": v(2, 0), "values": f(3, 4), "out": f(2, 4)},
    "HASHTABLE_LOOKUP": {
        "lookups": v(2, 7),
        "keys": v(1, 2, 3),
        "values": f(3, 4),
        "out": f(2, 4),
        "out_hits": q(2, scale=1.0),
    },
    "CHANNEL_SHUFFLE": {"input": f(2, 6), "groups": i(3), "axis": i(-1), "out": f(2, 6)},
}
PADDED = SOUND["SPACE_TO_BATCH_ND"] | {"input": q(1, 3, 9, 4), "out": q(6, 2, 3, 4)}
BYTES = {name: SOUND[name] | {"values": q(3, 4), "out": q(2, 4)} for name in ("EMBEDDING_LOOKUP", "HASHTABLE_LOOKUP")}
EMPTY = f(shape=(0, 4, 6, 8))
SHIFTED = {"out": q(1, 2, 2, 4, zero=1)}

EDITS = Edits(SOUND)
broken, rows = EDITS.broken, EDITS.rows
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
    *rows("EXPAND_DIMS.C1", axis=i(3)),
    *rows("EXPAND_DIMS.C1", axis=i(-4)),
    *rows("EXPAND_DIMS.C2", "TILE.C4", "REVERSE.C4", input=f(shape=(2, 0)), out=f()),
    *rows("GATHER.C3", input=f(shape=(0, 3)), out=f()),
    *rows("PACK.C4", a=f(shape=(2, 0)), b=f(shape=(2, 0)), out=f()),
    *rows("MIRROR_PAD.C5", input=f(shape=(0, 3)), paddings=v([0, 0], [0, 2]), mode=i(1), out=f()),
    *rows("EXPAND_DIMS.C3", "TILE.C5", "GATHER.C4", "REVERSE.C5", "PACK.C5", "MIRROR_PAD.C6", out=f(2, 7)),
    broken("EXPAND_DIMS.C4", {"out": q(1, 2, scale=1.0)}, {"input": q(2), "axis": i(0), "out": q(1, 2)}),
    broken("TILE.C6", {"out": q(4, zero=1)}, {"input": q(2), "multiples": v(2), "out": q(4)}),
    broken("GATHER.C5", {"out": q(1, zero=1)}, {"input": q(2), "axis": i(0), "indices": v(1), "out": q(1)}),
    broken("REVERSE.C6", {"out": q(2, zero=1)}, {"input": q(2), "axis": v(0), "out": q(2)}),
    broken("PACK.C3", {"b": q(2, zero=1)}, {"axis": i(0), "a": q(2), "b": q(2), "out": q(2, 2)}),
    broken("PACK.C3", {"a": q(2, scale=1.0)}, {"axis": i(0), "a": q(2), "b": q(2), "out": q(2, 2)}),
    broken("MIRROR_PAD.C7", {"out": q(3, zero=1)}, {"input": q(2), "paddings": v([0, 1]), "mode": i(0), "out": q(3)}),
    *rows("TILE.C1", multiples=v([1, 2]), out=f()),
    *rows("TILE.C2", multiples=v(2), out=f()),
    *rows("TILE.C3", multiples=v(2, 0), out=f()),
    *rows("GATHER.C1", axis=i(2), out=f()),
    *rows("GATHER.C1", axis=i(-3), out=f()),
    *rows("GATHER.C2", indices=v(2, 3)),
    *rows("GATHER.C2", indices=v(-1, 0)),
    *rows("REVERSE.C1", input=f(*range(1, 10)), out=f()),
    *rows("REVERSE.C2", axis=v(1, 0)),
    *rows("REVERSE.C3", axis=v(2)),
    *rows("REVERSE.C3", axis=v(-1)),
    *rows("PACK.C1", axis=i(3)),
    *rows("PACK.C1", axis=i(-1)),
    *rows("PACK.C2", b=f(2, 4)),
    *rows("PACK.C2", b=f(2)),
    *rows("MIRROR_PAD.C1", paddings=v([1, 0], [0, 2], [0, 0]), out=f()),
    *rows("MIRROR_PAD.C2", paddings=v([1, 0], [0, -1]), out=f()),
    *rows("MIRROR_PAD.C3", paddings=v([2, 0], [0, 2]), out=f()),
    *rows("MIRROR_PAD.C3", paddings=v([0, 3], [0, 2]), mode=i(1), out=f()),
    *rows("MIRROR_PAD.C4", mode=i(2)),
    *rows("MIRROR_PAD.C4", mode=i(-1)),
    *rows("EMBEDDING_LOOKUP.C1", lookups=v([2, 0]), out=f()),
    *rows("HASHTABLE_LOOKUP.C1", lookups=v([2, 0]), out=f(), out_hits=q(scale=1.0)),
    *rows("EMBEDDING_LOOKUP.C2", values=f(3), out=f(2)),
    *rows("EMBEDDING_LOOKUP.C3", lookups=v(2, 3)),
    *rows("EMBEDDING_LOOKUP.C3", lookups=v(-1, 2)),
    *rows("EMBEDDING_LOOKUP.C4", "HASHTABLE_LOOKUP.C4", values=f(shape=(3, 0)), out=f()),
    *rows("EMBEDDING_LOOKUP.C5", "HASHTABLE_LOOKUP.C5", out=f(3, 4)),
    *rows("HASHTABLE_LOOKUP.C5", out_hits=q(3, scale=1.0)),
    broken("EMBEDDING_LOOKUP.C6", {"out": q(2, 4, zero=1)}, BYTES["EMBEDDING_LOOKUP"]),
    broken("EMBEDDING_LOOKUP.C6", {"out": q(2, 4, scale=1.0)}, BYTES["EMBEDDING_LOOKUP"]),
    broken("HASHTABLE_LOOKUP.C6", {"out": q(2, 4, zero=1)}, BYTES["HASHTABLE_LOOKUP"]),
    *rows("HASHTABLE_LOOKUP.C2", keys=v(1, 2)),
    *rows("HASHTABLE_LOOKUP.C3", keys=v(1, 3, 2)),
    *rows("HASHTABLE_LOOKUP.C7", out_hits=q(2, scale=0.5)),
    *rows("HASHTABLE_LOOKUP.C7", out_hits=q(2, scale=1.0, zero=1)),
    *rows("CHANNEL_SHUFFLE.C1", input=f(1, 1, 1, 1, 3), out=f()),
    *rows("CHANNEL_SHUFFLE.C2", axis=i(2)),
    *rows("CHANNEL_SHUFFLE.C2", axis=i(-3)),
    *rows("CHANNEL_SHUFFLE.C3", groups=i(0)),
    *rows("CHANNEL_SHUFFLE.C4", groups=i(4)),
    *rows("CHANNEL_SHUFFLE.C5", input=f(shape=(2, 0)), out=f()),
    *rows("CHANNEL_SHUFFLE.C6", out=f(6, 2)),
    broken("CHANNEL_SHUFFLE.C7", {"out": q(2, zero=1)}, {"input": q(2), "n": i(1), "axis": i(0), "out": q(2)}),
]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call_breaks_nothing(name: str) -> None:
    assert broken_by(name, Version.FL8, SOUND[name]) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_an_edit_breaks_one_clause(case: Broken) -> None:
    assert broken_without_and_with(case) == ([], [case.clause])


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_what_is_unknown_breaks_nothing(case: Broken) -> None:
    assert broken_while_unknown(case) == seen_while_unknown(case)


def test_every_clause_is_broken_by_an_edit() -> None:
    assert {case.clause for case in BROKEN} == {clause.id for name in SOUND for clause in rules.clauses(name)}
