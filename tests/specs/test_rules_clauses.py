"""Each clause of each operation: a sound call, and one small edit that breaks just that clause."""

from __future__ import annotations

import pytest
from operation_calls import OMITTED, Broken, Call, f, i, n, q, r, s, t, v
from rule_checks import Edits, broken_by, broken_while_unknown, broken_without_and_with, seen_while_unknown

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.versions import Version

ADD = {"a": f(2, 3), "b": f(3), "act": i(0), "out": f(2, 3)}
QUANT_ADD = {"a": q(2, 3), "b": q(3), "act": i(0), "out": q(2, 3)}
TENTH, HUNDREDTH = 0.10000000149011612, 0.010000000707805157
"""A float32, and its square rounded to float32, which is more than the square itself."""
TENTHS = {"a": q(2, 3, scale=TENTH), "b": q(3, scale=TENTH), "act": i(0), "out": q(2, 3, scale=0.010000001639127731)}
MAXIMUM = {"a": f(2, 3), "b": f(1, 3), "out": f(2, 3)}
UNARY = {"input": f(2, 3), "out": f(2, 3)}
COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
LOGICAL = ("LOGICAL_AND", "LOGICAL_OR")
FUNCTIONS = ("ABS", "NEG", "EXP", "LOG", "SIN", "SQRT", "RSQRT")
SOUND: dict[str, Call] = {
    "ADD": ADD,
    "SUB": ADD,
    "MUL": ADD,
    "DIV": ADD,
    "MAXIMUM": MAXIMUM,
    "MINIMUM": MAXIMUM,
    **{name: MAXIMUM | {"out": t(2, 3)} for name in COMPARISONS},
    **{name: {"a": t(2, 3), "b": t(1, 3), "out": t(2, 3)} for name in LOGICAL},
    **dict.fromkeys(FUNCTIONS, UNARY),
    "FLOOR": UNARY,
    "SELECT": {"condition": t(2, 3), "a": f(2, 3), "b": f(2, 3), "out": f(2, 3)},
    "PRELU": MAXIMUM,
    "POW": MAXIMUM,
    "ELU": {"input": f(2, 3), "alpha": r(1.0), "out": f(2, 3)},
    "HARD_SWISH": UNARY,
    "LOGICAL_NOT": {"input": t(2, 3), "out": t(2, 3)},
    "RELU": UNARY,
    "RELU1": UNARY,
    "RELU6": UNARY,
    "LOGISTIC": UNARY,
    "TANH": UNARY,
    "CAST": UNARY,
    "QUANTIZE": UNARY | {"out": q(2, 3)},
    "DEQUANTIZE": UNARY | {"input": q(2, 3)},
    "SOFTMAX": {"input": f(2, 3), "beta": r(1.0), "axis": i(-1), "out": f(2, 3)},
    "PAD": {"input": f(2, 3), "paddings": v([0, 1], [2, 0]), "out": f(3, 5)},
    "PAD_V2": {"input": f(2, 3), "paddings": v([0, 1], [2, 0]), "value": r(1.0), "out": f(3, 5)},
    "RESHAPE": {"input": f(2, 3), "shape": v(3, -1), "out": f(3, 2)},
    "SQUEEZE": {"input": f(1, 3, 1), "dims": v(0), "out": f(3, 1)},
    "TRANSPOSE": {"input": f(2, 3, 4), "perm": v(2, 0, 1), "out": f(4, 2, 3)},
    "CONCATENATION": {"a": f(2, 3), "b": f(2, 1), "axis": i(1), "out": f(2, 4)},
    "SPLIT": {"input": f(2, 4), "axis": i(1), "count": i(2), "out0": f(2, 2), "out1": f(2, 2)},
    "SLICE": {"input": f(4, 5), "begin": v(1, 2), "size": v(2, -1), "out": f(2, 3)},
    "STRIDED_SLICE": {
        "input": f(4, 5),
        "begin": v(0, 4),
        "end": v(4, -6),
        "strides": v(2, -2),
        "begin_mask": i(0),
        "end_mask": i(0),
        "shrink": i(0),
        "out": f(2, 3),
    },
    "MEAN": {"input": f(2, 3), "axes": v(-1), "keep": i(0), "out": f(2)},
}


QUANT_UNARY = {"input": q(2, 3), "out": q(2, 3)}
INTEGER = {"a": n(2, 3), "b": n(3), "act": i(0), "out": n(2, 3)}

EDITS = Edits(SOUND)
broken, rows = EDITS.broken, EDITS.rows
FIVE = f(1, 1, 1, 1, 1)
EMPTY = f(2, 0, shape=(2, 0))
BROKEN = [
    # Broadcasting and element-wise operations.
    *rows("ADD.C1", "SUB.C1", "MUL.C1", "DIV.C1", "MAXIMUM.C1", "MINIMUM.C1", b=f(2)),
    *rows("ADD.C2", "SUB.C2", "MUL.C2", "DIV.C2", b=FIVE, out=f()),
    *rows("ADD.C3", "SUB.C3", "MUL.C3", "DIV.C3", act=i(4)),
    *rows("ADD.C3", "SUB.C3", "MUL.C3", "DIV.C3", act=i(-1)),
    *[broken(f"{name}.C4", {"act": i(1)}, INTEGER) for name in ("ADD", "SUB", "MUL", "DIV")],
    *rows("ADD.C6", "SUB.C6", "MUL.C6", "DIV.C6", "MAXIMUM.C3", "MINIMUM.C3", out=f(2, 4)),
    *rows("MAXIMUM.C2", "MINIMUM.C2", a=EMPTY, b=f(1), out=f()),
    *rows(*(f"{name}.C1" for name in COMPARISONS), b=f(2)),
    *rows(*(f"{name}.C1" for name in LOGICAL), b=t(2)),
    *rows(*(f"{name}.C2" for name in COMPARISONS), a=EMPTY, b=f(1), out=t()),
    *rows(*(f"{name}.C2" for name in LOGICAL), a=t(2, 0, shape=(2, 0)), b=t(1), out=t()),
    *rows("LOGICAL_NOT.C1", input=t(2, 0, shape=(2, 0)), out=t()),
    *rows(*(f"{name}.C3" for name in (*COMPARISONS, *LOGICAL)), "LOGICAL_NOT.C2", out=t(3, 2)),
    *rows(*(f"{name}.C1" for name in FUNCTIONS), "FLOOR.C2", input=EMPTY, out=f()),
    *rows(*(f"{name}.C2" for name in FUNCTIONS), "FLOOR.C3", out=f(3, 2)),
    broken("FLOOR.C1", {"input": FIVE, "out": f()}),
    *rows("PRELU.C1", "POW.C1", b=f(2)),
    *rows("PRELU.C2", "POW.C2", a=EMPTY, b=f(1), out=f()),
    *rows("PRELU.C3", "POW.C3", "SELECT.C3", "ELU.C2", "HARD_SWISH.C2", out=f(3, 2)),
    *rows("SELECT.C1", condition=t(3), out=f()),
    *rows("SELECT.C1", a=f(1, 3)),
    *rows("SELECT.C1", condition=t(), b=f(1, 3)),
    *rows("SELECT.C2", condition=t(2, 0, shape=(2, 0)), a=EMPTY, b=EMPTY, out=f()),
    *rows("ELU.C1", input=EMPTY, out=f()),
    broken("HARD_SWISH.C1", {"input": EMPTY, "out": f()}, version=Version.V1_2),
    broken("HARD_SWISH.C3", {"out": q(2, 3, scale=2**-8)}, QUANT_UNARY),
    broken("ADD.C7", {"out": q(2, 3, scale=2**-21)}, QUANT_ADD),
    broken("SUB.C7", {"out": q(2, 3, scale=2**-21)}, QUANT_ADD),
    broken("MUL.C7", {"out": q(2, 3, scale=0.25)}, QUANT_ADD),
    broken("MUL.C7", {"out": q(2, 3, scale=HUNDREDTH)}, TENTHS),
    *rows("RELU.C1", "RELU1.C1", "RELU6.C1", "LOGISTIC.C1", "TANH.C1", input=FIVE, out=f()),
    broken("DEQUANTIZE.C1", {"input": q(1, 1, 1, 1, 1), "out": f()}),
    *rows("RELU.C3", "RELU1.C3", "RELU6.C3", "LOGISTIC.C3", "TANH.C3", "CAST.C2", "DEQUANTIZE.C3", out=f(3, 2)),
    broken("QUANTIZE.C2", {"out": q(2)}),
    broken("CAST.C1", {"input": EMPTY, "out": f()}),
    *[broken(f"{name}.C4", {"out": q(2, 3, zero=1)}, QUANT_UNARY) for name in ("RELU", "RELU1", "RELU6")],
    *[broken(f"{name}.C4", {"out": q(2, 3, scale=0.25)}, QUANT_UNARY) for name in ("RELU", "RELU1", "RELU6")],
    broken("LOGISTIC.C4", {"out": q(2, 3, scale=1 / 128)}, {"input": q(2, 3), "out": q(2, 3, scale=1 / 256)}),
    broken(
        "LOGISTIC.C4", {"out": s(2, 3, scale=1 / 256)}, {"input": s(2, 3), "out": s(2, 3, scale=1 / 256, zero=-128)}
    ),
    broken("TANH.C4", {"out": q(2, 3, scale=1 / 128)}, {"input": q(2, 3), "out": q(2, 3, scale=1 / 128, zero=128)}),
    broken("TANH.C4", {"out": s(2, 3, scale=1 / 256)}, {"input": s(2, 3), "out": s(2, 3, scale=1 / 128)}),
    broken("SOFTMAX.C1", {"input": FIVE, "out": f()}),
    broken("SOFTMAX.C2", {"input": f(3), "out": f(3)}, {"input": f(2, 3), "beta": r(1), "out": f(2, 3)}, Version.V1_1),
    *rows("SOFTMAX.C3", beta=r(0)),
    *rows("SOFTMAX.C4", axis=i(2)),
    *rows("SOFTMAX.C4", axis=i(-3)),
    *rows("SOFTMAX.C6", out=f(2, 4)),
    broken("SOFTMAX.C7", {"out": q(2, 3)}, {"input": q(2, 3), "beta": r(1), "out": q(2, 3, scale=1 / 256)}),
    # Paddings.
    *rows("PAD.C1", "PAD_V2.C1", input=FIVE, paddings=n(5, 2), out=f()),
    *rows("PAD.C2", "PAD_V2.C2", paddings=v([0, 1])),
    *rows("PAD.C2", "PAD_V2.C2", paddings=n(2, 3)),
    *rows("PAD.C3", "PAD_V2.C3", paddings=v([0, -1], [0, 0]), out=f()),
    broken(
        "PAD.C4",
        {"input": q(2, zero=3), "out": q(2, zero=3)},
        {"input": q(2), "pads": v([0, 0]), "out": q(2)},
        Version.V1_1,
    ),
    *rows("PAD.C5", "PAD_V2.C4", input=EMPTY, out=f()),
    *rows("PAD.C6", "PAD_V2.C5", out=f(3, 3)),
    broken("PAD.C7", {"out": q(2, zero=3)}, {"input": q(2), "paddings": v([0, 0]), "out": q(2)}),
    broken("PAD_V2.C6", {"out": q(2, zero=3)}, {"input": q(2), "paddings": v([0, 0]), "value": i(1), "out": q(2)}),
    # Shapes.
    *rows("RESHAPE.C1", input=f(1, 1, 1, 1, 6)),
    *rows("RESHAPE.C2", shape=v(-1, -1)),
    *rows("RESHAPE.C2", shape=v(6, 0)),
    *rows("RESHAPE.C2", shape=v(3, -2)),
    *rows("RESHAPE.C3", shape=v(4, -1)),
    *rows("RESHAPE.C3", shape=v(2, 2)),
    *rows("RESHAPE.C4", input=EMPTY, shape=n(2)),
    *rows("RESHAPE.C5", out=f(2, 3)),
    broken("RESHAPE.C6", {"out": q(2, scale=1.0)}, {"input": q(2), "shape": v(2), "out": q(2)}),
    *rows("SQUEEZE.C1", input=FIVE, out=f()),
    *rows("SQUEEZE.C2", dims=v(3)),
    *rows("SQUEEZE.C2", dims=v(-4)),
    *rows("SQUEEZE.C3", dims=v(1), out=f()),
    *rows("SQUEEZE.C4", input=f(shape=(1, 0)), out=f()),
    *rows("SQUEEZE.C5", dims=OMITTED),
    broken("SQUEEZE.C6", {"out": q(2, scale=1.0)}, {"input": q(1, 2), "dims": v(0), "out": q(2)}),
    *rows("TRANSPOSE.C1", input=FIVE, perm=n(5), out=f()),
    *rows("TRANSPOSE.C2", perm=v(0, 1)),
    *rows("TRANSPOSE.C3", perm=v(0, 1, 3)),
    *rows("TRANSPOSE.C3", perm=v(0, 1, -1)),
    *rows("TRANSPOSE.C4", perm=v(0, 1, 1), out=f()),
    *rows("TRANSPOSE.C6", perm=v(0, 1, 2)),
    broken("TRANSPOSE.C7", {"out": q(2, scale=1.0)}, {"input": q(2), "perm": v(0), "out": q(2)}),
    *rows("TRANSPOSE.C8", perm=OMITTED, out=f()),
    *rows("CONCATENATION.C1", a=FIVE, b=FIVE, out=f()),
    *rows("CONCATENATION.C2", a=f(2, 3), b=f(2, 3), axis=i(-1)),
    *rows("CONCATENATION.C2", a=f(2, 3), b=f(2, 3), axis=i(2)),
    *rows("CONCATENATION.C3", b=f(3, 1)),
    *rows("CONCATENATION.C3", b=f(2, 1, 1)),
    broken("CONCATENATION.C4", {"b": q(2, zero=1)}, {"a": q(2), "b": q(2), "axis": i(0), "out": q(4)}, Version.V1_1),
    *rows("CONCATENATION.C6", out=f(2, 3)),
    *rows("SPLIT.C1", axis=i(2)),
    *rows("SPLIT.C1", axis=i(-3)),
    *rows("SPLIT.C2", count=i(1), out0=f(), out1=f()),
    *rows("SPLIT.C2", count=i(0)),
    *rows("SPLIT.C3", input=f(2, 5)),
    *rows("SPLIT.C4", input=EMPTY, out0=f(), out1=f()),
    *rows("SPLIT.C5", out1=f(2, 3)),
    broken("SPLIT.C6", {"out": q(2, zero=1)}, {"input": q(2), "axis": i(0), "count": i(1), "out": q(2)}),
    *rows("SLICE.C1", begin=v(1)),
    *rows("SLICE.C1", size=v(1, 1, 1)),
    *rows("SLICE.C2", begin=v(1, 6), out=f()),
    *rows("SLICE.C3", size=v(4, -1), out=f()),
    *rows("SLICE.C3", size=v(2, -2), out=f()),
    *rows("SLICE.C4", begin=v(-1, 2)),
    *rows("SLICE.C6", out=f(2, 5)),
    broken("SLICE.C7", {"out": q(2, zero=1)}, {"input": q(2), "begin": v(0), "size": v(2), "out": q(2)}),
    *rows("STRIDED_SLICE.C1", input=FIVE, begin=n(5), end=n(5), strides=n(5)),
    *rows("STRIDED_SLICE.C2", end=v(4)),
    *rows("STRIDED_SLICE.C3", strides=v(2, 0)),
    *rows("STRIDED_SLICE.C4", shrink=i(1), out=f()),
    *rows("STRIDED_SLICE.C4", shrink=i(2), end=v(4, 3), out=f()),
    *rows("STRIDED_SLICE.C5", input=f(shape=(0, 5)), out=f()),
    *rows("STRIDED_SLICE.C6", out=f(2, 2)),
    broken(
        "STRIDED_SLICE.C7",
        {"out": q(2, zero=1)},
        {key: i(0) for key in "abcdefg"} | {"a": q(2), "b": v(0), "c": v(2), "d": v(1), "out": q(2)},
    ),
    *rows("MEAN.C1", input=FIVE, out=f()),
    *rows("MEAN.C2", axes=v(2), out=f()),
    *rows("MEAN.C2", axes=v(-3), out=f()),
    *rows("MEAN.C3", input=EMPTY),
    *rows("MEAN.C4", keep=i(1)),
    broken("MEAN.C5", {"out": q(1, zero=1)}, {"input": q(2), "axes": v(0), "keep": i(0), "out": q(1)}),
]

_OLD_EMPTY: dict[str, tuple[str, Call, Version]] = {
    # Operations that take inputs without elements since 1.2: the clause, what is empty, an older version.
    "ADD": ("C5", {"a": EMPTY, "b": f(1), "out": f()}, Version.V1_1),
    "SUB": ("C5", {"a": EMPTY, "b": f(1), "out": f()}, Version.V1_1),
    "MUL": ("C5", {"a": EMPTY, "b": f(1), "out": f()}, Version.V1_1),
    "DIV": ("C5", {"a": EMPTY, "b": f(1), "out": f()}, Version.V1_1),
    "RELU": ("C2", {"input": EMPTY, "out": f()}, Version.V1_1),
    "RELU1": ("C2", {"input": EMPTY, "out": f()}, Version.V1_1),
    "RELU6": ("C2", {"input": EMPTY, "out": f()}, Version.V1_1),
    "LOGISTIC": ("C2", {"input": EMPTY, "out": f()}, Version.V1_1),
    "TANH": ("C2", {"input": EMPTY, "out": f()}, Version.V1_1),
    "DEQUANTIZE": ("C2", {"input": q(shape=(2, 0)), "out": f()}, Version.V1_1),
    "SOFTMAX": ("C5", {"input": EMPTY, "out": f()}, Version.V1_1),
    "TRANSPOSE": ("C5", {"input": f(shape=(2, 0, 4)), "out": f()}, Version.V1_1),
    "CONCATENATION": ("C5", {"b": EMPTY, "out": f()}, Version.V1_1),
}
_NEVER_OLD = {"QUANTIZE.C1", "SLICE.C5"}
"""Operations of 1.2 that take empty inputs: only a view of an older version, which no model has, breaks them."""


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call_breaks_nothing(name: str) -> None:
    assert broken_by(name, Version.FL8, SOUND[name]) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_an_edit_breaks_one_clause(case: Broken) -> None:
    assert broken_without_and_with(case) == ([], [case.clause])


@pytest.mark.parametrize("name", _OLD_EMPTY)
def test_empty_inputs_need_a_version(name: str) -> None:
    number, changes, old = _OLD_EMPTY[name]
    call = SOUND[name] | changes
    assert broken_by(name, old, call) == [f"{name}.{number}"]
    assert broken_by(name, Version.V1_2, call) == []


@pytest.mark.parametrize("clause", sorted(_NEVER_OLD))
def test_empty_inputs_of_operations_that_are_no_older(clause: str) -> None:
    name = clause.partition(".")[0]
    call = SOUND[name] | {"input": f(shape=(0, 5)), "out": q() if name == "QUANTIZE" else f()}
    call |= {"begin": v(0, 0), "size": v(0, -1)} if name == "SLICE" else {}
    assert broken_by(name, Version.V1_2, call) == []
    assert broken_by(name, Version.V1_1, call) == [clause]


def test_every_clause_is_broken_by_an_edit() -> None:
    broken_here = (
        {case.clause for case in BROKEN} | {f"{name}.{row[0]}" for name, row in _OLD_EMPTY.items()} | _NEVER_OLD
    )
    assert broken_here == {clause.id for name in SOUND for clause in rules.clauses(name)}


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_what_is_unknown_breaks_nothing(case: Broken) -> None:
    assert broken_while_unknown(case) == seen_while_unknown(case)


@pytest.mark.parametrize("name", rules.operations())
def test_ids_run_from_one_and_texts_are_sentences(name: str) -> None:
    clauses = rules.clauses(name)
    assert [clause.id for clause in clauses] == [f"{name}.C{number}" for number in range(1, len(clauses) + 1)]
    assert all(clause.text[0].isupper() and clause.text.endswith(".") for clause in clauses)
