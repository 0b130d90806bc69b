"""Clauses of reductions and normalisations: a sound call, and one edit that breaks just that clause."""

from __future__ import annotations

import pytest
from operation_calls import Broken, Call, Given, b, f, i, n, q, r, s, t, v
from rule_checks import Edits, broken_by, broken_while_unknown, broken_without_and_with, seen_while_unknown

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.types import Operand
from npu_conformance.specs.versions import Version

REDUCED = {"input": f(2, 3), "axes": v(-1), "keep": b(False), "out": f(2)}
TRUTHS = REDUCED | {"input": t(2, 3), "out": t(2)}
QUANT_REDUCED = REDUCED | {"input": q(2, 3), "out": q(2)}
INDEXED = {"input": f(2, 3), "axis": i(-1), "out": n(2)}
LOCAL = {"input": f(1, 2, 2, 3), "radius": i(1), "bias": r(1.0), "alpha": r(1.0), "beta": r(0.5)}
OLD_LOCAL = LOCAL | {"out": f(1, 2, 2, 3)}
OLD_LENGTH = {"input": f(1, 2, 2, 3), "out": f(1, 2, 2, 3)}
QUANT_LENGTH = {"input": q(2, 3), "out": q(2, 3, scale=1 / 128, zero=128)}
SIGNED_LENGTH = {"input": s(2, 3), "out": s(2, 3, scale=1 / 128)}
SOUND: dict[str, Call] = {
    "REDUCE_SUM": REDUCED,
    "REDUCE_PROD": REDUCED,
    "REDUCE_MAX": REDUCED,
    "REDUCE_MIN": REDUCED,
    "REDUCE_ALL": TRUTHS,
    "REDUCE_ANY": TRUTHS,
    "ARGMAX": INDEXED,
    "ARGMIN": INDEXED,
    "RANK": {"input": f(2, 3), "out": Given(Operand(OperandType.INT32))},
    "TOPK_V2": {"input": f(2, 3), "k": i(2), "out0": f(2, 2), "out1": n(2, 2)},
    "L2_NORMALIZATION": {"input": f(1, 2, 2, 3), "axis": i(-1), "out": f(1, 2, 2, 3)},
    "LOCAL_RESPONSE_NORMALIZATION": LOCAL | {"axis": i(-1), "out": f(1, 2, 2, 3)},
    "LOG_SOFTMAX": {"input": f(2, 3), "beta": r(1.0), "axis": i(-1), "out": f(2, 3)},
    "INSTANCE_NORMALIZATION": {
        "input": f(1, 2, 2, 3),
        "gamma": r(1.0),
        "beta": r(0.0),
        "epsilon": r(0.1),
        "nchw": b(False),
        "out": f(1, 2, 2, 3),
    },
    "FILL": {"dims": v(2, 3), "value": r(1.0), "out": f(2, 3)},
}

EDITS = Edits(SOUND)
broken, rows = EDITS.broken, EDITS.rows


def all_of(number: str, names: tuple[str, ...], **changes: Given) -> list[Broken]:
    """The same edit for one number of several operations."""
    return rows(*[f"{name}.{number}" for name in names], **changes)


FLOATS, BOOLS = ("REDUCE_SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"), ("REDUCE_ALL", "REDUCE_ANY")
LOCALS = ("L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION")
FIVE = f(1, 1, 1, 1, 1)
EMPTY = f(2, 0, shape=(2, 0))
BROKEN = [
    *all_of("C1", FLOATS, input=FIVE, out=f()),
    *all_of("C1", BOOLS, input=t(1, 1, 1, 1, 1), out=t()),
    *all_of("C2", (*FLOATS, *BOOLS), axes=v(2)),
    *all_of("C2", (*FLOATS, *BOOLS), axes=v(0, -3)),
    *all_of("C3", FLOATS, input=EMPTY),
    *all_of("C3", BOOLS, input=t(2, 0, shape=(2, 0))),
    *all_of("C4", (*FLOATS, *BOOLS), keep=b(True)),
    *[broken(f"{name}.C5", {"out": q(2, zero=1)}, QUANT_REDUCED) for name in ("REDUCE_MAX", "REDUCE_MIN")],
    *rows("ARGMAX.C1", "ARGMIN.C1", axis=i(2)),
    *rows("ARGMAX.C1", "ARGMIN.C1", axis=i(-3)),
    *rows("ARGMAX.C2", "ARGMIN.C2", input=EMPTY),
    *rows("ARGMAX.C3", "ARGMIN.C3", axis=i(0)),
    *rows("RANK.C1", input=EMPTY),
    *rows("TOPK_V2.C1", k=i(4)),
    *rows("TOPK_V2.C1", k=i(0)),
    *rows("TOPK_V2.C2", input=f(shape=(0, 3)), out0=f(), out1=n()),
    *rows("TOPK_V2.C3", out0=f(2, 3)),
    *rows("TOPK_V2.C3", out1=n(2, 3)),
    broken("TOPK_V2.C4", {"out0": q(1, zero=1)}, {"input": q(2), "k": i(1), "out0": q(1), "out1": n(1)}),
    *all_of("C1", LOCALS, input=FIVE, out=f()),
    *[
        broken(f"{name}.C2", {"input": f(2, 2, 3), "out": f(2, 2, 3)}, sound, Version.V1_1)
        for name, sound in zip(LOCALS, (OLD_LENGTH, OLD_LOCAL), strict=True)
    ],
    *all_of("C3", LOCALS, axis=i(4)),
    *all_of("C3", LOCALS, axis=i(-5)),
    *all_of("C4", LOCALS, input=f(shape=(1, 2, 0, 3)), out=f()),
    *all_of("C5", LOCALS, out=f(1, 2, 3, 2)),
    *rows("LOCAL_RESPONSE_NORMALIZATION.C6", radius=i(-1)),
    broken("L2_NORMALIZATION.C6", {"out": q(2, 3, scale=1 / 128)}, QUANT_LENGTH),
    broken("L2_NORMALIZATION.C6", {"out": q(2, 3, scale=1 / 256, zero=128)}, QUANT_LENGTH),
    broken("L2_NORMALIZATION.C6", {"out": s(2, 3, scale=1 / 128, zero=-128)}, SIGNED_LENGTH),
    *rows("LOG_SOFTMAX.C1", beta=r(0.0)),
    *rows("LOG_SOFTMAX.C1", beta=r(-1.0)),
    *rows("LOG_SOFTMAX.C2", axis=i(2)),
    *rows("LOG_SOFTMAX.C2", axis=i(-3)),
    *rows("LOG_SOFTMAX.C3", input=EMPTY, out=f()),
    *rows("LOG_SOFTMAX.C4", out=f(3, 2)),
    *rows("INSTANCE_NORMALIZATION.C1", input=f(2, 2, 3), out=f()),
    *rows("INSTANCE_NORMALIZATION.C2", input=f(shape=(1, 2, 0, 3)), out=f()),
    *rows("INSTANCE_NORMALIZATION.C3", out=f(1, 3, 2, 2)),
    *rows("FILL.C1", dims=n(2, 3), out=f()),
    *rows("FILL.C2", dims=v(2, -1), out=f()),
    *rows("FILL.C3", dims=v(0, 3), out=f()),
    *rows("FILL.C4", dims=v(3, 2)),
    *rows("FILL.C4", dims=v(6)),
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
