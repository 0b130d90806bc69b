"""Clauses of operations with a window, weights or an image: a sound call, and one edit that breaks just that clause."""

from __future__ import annotations

import pytest
from operation_calls import Broken, Call, Given, b, channels, f, i, n, q, r, v
from rule_checks import Edits, broken_by, broken_while_unknown, broken_without_and_with, seen_while_unknown

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.versions import Version


def windowed(kernel: Call, output: Given, image: Given) -> Call:
    paddings = {"left": i(0), "right": i(0), "top": i(0), "bottom": i(0)}
    return {"input": image, **kernel, **paddings, "stride_w": i(1), "stride_h": i(1), "act": i(0), "out": output}


def pool(image: Given, output: Given) -> Call:
    call = windowed({}, output, image)
    act, out = call.pop("act"), call.pop("out")
    return call | {"window_w": i(2), "window_h": i(2), "act": act, "out": out}


def depthwise(image: Given, kernel: Given, bias: Given, output: Given) -> Call:
    call = windowed({"filter": kernel, "bias": bias}, output, image)
    act, out = call.pop("act"), call.pop("out")
    return call | {"multiplier": i(2), "act": act, "out": out}


def grouped(image: Given, kernel: Given, bias: Given, output: Given) -> Call:
    call = windowed({"filter": kernel, "bias": bias}, output, image)
    act, out = call.pop("act"), call.pop("out")
    return call | {"groups": i(2), "act": act, "nchw": b(False), "out": out}


def transposed(image: Given, kernel: Given, bias: Given, output: Given) -> Call:
    scalars = {"stride_w": i(2), "stride_h": i(1), "act": i(0), "nchw": b(False), "out": output}
    shape = {"shape": v(1, 4, 8, 2), "scheme": i(1)}
    return {"input": image, "filter": kernel, "bias": bias, **shape, **scalars}


IMAGE = f(1, 4, 4, 3)
RESIZE = {
    "input": f(1, 4, 3, 2),
    "width": i(6),
    "height": i(5),
    "nchw": b(False),
    "align": b(False),
    "half": b(False),
    "out": f(1, 5, 6, 2),
}
QUANT_RESIZE = RESIZE | {"input": q(1, 4, 3, 2), "out": q(1, 5, 6, 2)}
DENSE = {"input": f(2, 3), "weights": f(4, 3), "bias": f(4), "act": i(0), "out": f(2, 4)}
MATMUL = {"a": f(2, 3, 4), "b": f(2, 4, 5), "x": b(False), "y": b(False), "out": f(2, 3, 5)}
SOUND: dict[str, Call] = {
    "CONV_2D": windowed({"filter": f(2, 2, 2, 3), "bias": f(2)}, f(1, 3, 3, 2), IMAGE),
    "DEPTHWISE_CONV_2D": depthwise(IMAGE, f(1, 2, 2, 6), f(6), f(1, 3, 3, 6)),
    "GROUPED_CONV_2D": grouped(f(1, 4, 4, 6), f(4, 2, 2, 3), f(4), f(1, 3, 3, 4)),
    "TRANSPOSE_CONV_2D": transposed(IMAGE, f(2, 2, 2, 3), f(2), f(1, 4, 8, 2)),
    "AVERAGE_POOL_2D": pool(IMAGE, f(1, 3, 3, 3)),
    "MAX_POOL_2D": pool(IMAGE, f(1, 3, 3, 3)),
    "L2_POOL_2D": pool(IMAGE, f(1, 3, 3, 3)),
    "FULLY_CONNECTED": DENSE,
    "BATCH_MATMUL": MATMUL,
    "RESIZE_BILINEAR": RESIZE,
    "RESIZE_NEAREST_NEIGHBOR": RESIZE,
}
TENTH, HUNDREDTH = 0.10000000149011612, 0.010000000707805157
"""A float32, and its square rounded to float32, which is more than the square itself."""
CONV_OF_TENTHS = windowed(
    {"filter": q(2, 2, 2, 3, scale=TENTH), "bias": n(2, scale=HUNDREDTH)},
    q(1, 3, 3, 2, scale=0.010000001639127731),
    q(1, 4, 4, 3, scale=TENTH),
)
QUANT_CONV = windowed({"filter": q(2, 2, 2, 3), "bias": n(2, scale=0.25)}, q(1, 3, 3, 2, scale=1.0), q(1, 4, 4, 3))
QUANT_DEPTHWISE = depthwise(q(1, 4, 4, 3), q(1, 2, 2, 6), n(6, scale=0.25), q(1, 3, 3, 6, scale=1.0))
QUANT_GROUPED = grouped(q(1, 4, 4, 6), q(4, 2, 2, 3), n(4, scale=0.25), q(1, 3, 3, 4, scale=1.0))
QUANT_TRANSPOSED = transposed(q(1, 4, 4, 3), q(2, 2, 2, 3), n(2, scale=0.25), q(1, 4, 8, 2, scale=1.0))
EXPLICIT = windowed({"filter": f(2, 2, 2, 3), "bias": f(2)}, f(1, 5, 5, 2), IMAGE)
EXPLICIT |= {"nchw": b(False), "out": EXPLICIT.pop("out")}
QUANT_DENSE = {"input": q(2, 3), "weights": q(4, 3), "bias": n(4, scale=0.25), "act": i(0), "out": q(2, 4, scale=1.0)}

EDITS = Edits(SOUND)
broken, rows = EDITS.broken, EDITS.rows


def resizes(number: str, **changes: Given) -> list[Broken]:
    """The same edit for the same clause of both resizes; factors need both scalars to be such."""
    return rows(f"RESIZE_BILINEAR.{number}", f"RESIZE_NEAREST_NEIGHBOR.{number}", **changes)


BROKEN = [
    # Windows.
    *rows(
        "CONV_2D.C1", "DEPTHWISE_CONV_2D.C1", "AVERAGE_POOL_2D.C1", "MAX_POOL_2D.C1", "L2_POOL_2D.C1", input=f(4, 4, 3)
    ),
    *rows("CONV_2D.C2", filter=f(2, 2, 2, 4)),
    *rows("CONV_2D.C3", "DEPTHWISE_CONV_2D.C5", bias=f(3)),
    *rows("CONV_2D.C4", "DEPTHWISE_CONV_2D.C6", "AVERAGE_POOL_2D.C2", "MAX_POOL_2D.C2", "L2_POOL_2D.C2", stride_w=i(0)),
    *rows(
        "CONV_2D.C4", "DEPTHWISE_CONV_2D.C6", "AVERAGE_POOL_2D.C2", "MAX_POOL_2D.C2", "L2_POOL_2D.C2", stride_h=i(-1)
    ),
    *rows("AVERAGE_POOL_2D.C2", "MAX_POOL_2D.C2", "L2_POOL_2D.C2", window_h=i(0), out=f()),
    *rows(
        "CONV_2D.C5",
        "DEPTHWISE_CONV_2D.C7",
        "AVERAGE_POOL_2D.C3",
        "MAX_POOL_2D.C3",
        "L2_POOL_2D.C3",
        left=i(-1),
        out=f(),
    ),
    *rows(
        "CONV_2D.C6",
        "DEPTHWISE_CONV_2D.C8",
        "AVERAGE_POOL_2D.C4",
        "MAX_POOL_2D.C4",
        "L2_POOL_2D.C4",
        bottom=i(2),
        out=f(),
    ),
    *rows("CONV_2D.C7", "DEPTHWISE_CONV_2D.C9", "AVERAGE_POOL_2D.C5", "MAX_POOL_2D.C5", "L2_POOL_2D.C5", act=i(4)),
    *rows("CONV_2D.C8", "DEPTHWISE_CONV_2D.C10", input=f(shape=(1, 0, 4, 3)), out=f()),
    *rows("AVERAGE_POOL_2D.C6", "MAX_POOL_2D.C6", "L2_POOL_2D.C6", input=f(shape=(1, 4, 4, 0)), out=f()),
    *rows(
        "CONV_2D.C13",
        "AVERAGE_POOL_2D.C8",
        "MAX_POOL_2D.C8",
        "L2_POOL_2D.C8",
        "DEPTHWISE_CONV_2D.C15",
        out=f(1, 4, 3, 0),
    ),
    *rows(
        "CONV_2D.C14",
        "DEPTHWISE_CONV_2D.C16",
        "AVERAGE_POOL_2D.C10",
        "MAX_POOL_2D.C10",
        "L2_POOL_2D.C9",
        input=f(1, 1, 4, 3),
        out=f(),
    ),
    *[
        broken(f"{name}.C9", {"out": q(1, 3, 3, 3, zero=1)}, pool(q(1, 4, 4, 3), q(1, 3, 3, 3)))
        for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D")
    ],
    *rows("DEPTHWISE_CONV_2D.C2", filter=f(2, 2, 2, 6)),
    *rows("DEPTHWISE_CONV_2D.C3", filter=f(1, 2, 2, 3), bias=f(3), out=f()),
    *rows("DEPTHWISE_CONV_2D.C4", multiplier=i(0), filter=f(1, 2, 2, 0)),
    # Scales of convolutions and FULLY_CONNECTED.
    broken("CONV_2D.C10", {"bias": n(2, scale=0.5)}, QUANT_CONV),
    broken("CONV_2D.C10", {"bias": n(2, scale=0.0)}, QUANT_CONV),
    broken("CONV_2D.C10", {"filter": channels(0, 2, 2, 2, 3)}, QUANT_CONV),
    broken(
        "CONV_2D.C11",
        {"filter": channels(3, 2, 2, 2, 3)},
        QUANT_CONV | {"bias": n(2), "filter": channels(0, 2, 2, 2, 3)},
    ),
    broken("CONV_2D.C12", {"out": q(1, 3, 3, 2, scale=0.25)}, QUANT_CONV, Version.V1_1),
    broken("CONV_2D.C12", {"out": q(1, 3, 3, 2, scale=HUNDREDTH)}, CONV_OF_TENTHS, Version.V1_1),
    broken("DEPTHWISE_CONV_2D.C12", {"bias": n(6, scale=0.5)}, QUANT_DEPTHWISE),
    broken(
        "DEPTHWISE_CONV_2D.C13",
        {"filter": channels(0, 1, 2, 2, 6)},
        QUANT_DEPTHWISE | {"bias": n(6), "filter": channels(3, 1, 2, 2, 6)},
    ),
    broken("DEPTHWISE_CONV_2D.C14", {"out": q(1, 3, 3, 6, scale=0.25)}, QUANT_DEPTHWISE, Version.V1_1),
    broken("FULLY_CONNECTED.C6", {"bias": n(4, scale=0.5)}, QUANT_DENSE),
    broken("FULLY_CONNECTED.C7", {"out": q(2, 4, scale=0.25)}, QUANT_DENSE, Version.V1_1),
    *rows("FULLY_CONNECTED.C1", input=f(6), out=f()),
    *rows("FULLY_CONNECTED.C2", input=f(2, 4), out=f()),
    *rows("FULLY_CONNECTED.C3", bias=f(3)),
    *rows("FULLY_CONNECTED.C4", act=i(7)),
    *rows("FULLY_CONNECTED.C5", weights=f(4, 3, shape=(0, 3)), bias=f(0), out=f()),
    *rows("FULLY_CONNECTED.C8", out=f(2, 3)),
    *[
        broken(clause, {"input": f(shape=(0, 4, 4, 3)), "out": f()}, SOUND[clause.partition(".")[0]], Version.V1_1)
        for clause in ("CONV_2D.C9", "DEPTHWISE_CONV_2D.C11", "AVERAGE_POOL_2D.C7", "MAX_POOL_2D.C7", "L2_POOL_2D.C7")
    ],
    # Groups.
    *rows("GROUPED_CONV_2D.C1", input=f(4, 4, 6)),
    *rows("GROUPED_CONV_2D.C2", groups=i(0)),
    *rows("GROUPED_CONV_2D.C2", groups=i(-2)),
    *rows("GROUPED_CONV_2D.C3", filter=f(4, 2, 2, 6)),
    *rows("GROUPED_CONV_2D.C3", groups=i(1)),
    *rows("GROUPED_CONV_2D.C4", filter=f(3, 2, 2, 3), bias=f(3), out=f()),
    *rows("GROUPED_CONV_2D.C5", bias=f(3)),
    *rows("GROUPED_CONV_2D.C6", stride_h=i(0), out=f()),
    *rows("GROUPED_CONV_2D.C7", top=i(-1), out=f()),
    *rows("GROUPED_CONV_2D.C8", right=i(2), out=f()),
    *rows("GROUPED_CONV_2D.C9", act=i(4)),
    *rows("GROUPED_CONV_2D.C13", out=f(1, 3, 4, 4)),
    *rows("GROUPED_CONV_2D.C14", input=f(1, 4, 1, 6), out=f()),
    *rows("GROUPED_CONV_2D.C10", input=f(shape=(0, 4, 4, 6)), out=f()),
    broken("GROUPED_CONV_2D.C11", {"bias": n(4, scale=0.5)}, QUANT_GROUPED),
    broken(
        "GROUPED_CONV_2D.C12",
        {"filter": channels(3, 4, 2, 2, 3)},
        QUANT_GROUPED | {"bias": n(4), "filter": channels(0, 4, 2, 2, 3)},
    ),
    # Transposed.
    *rows("TRANSPOSE_CONV_2D.C1", input=f(4, 4, 3), out=f()),
    *rows("TRANSPOSE_CONV_2D.C2", filter=f(2, 2, 2, 4)),
    *rows("TRANSPOSE_CONV_2D.C3", bias=f(3)),
    *rows("TRANSPOSE_CONV_2D.C4", stride_h=i(0), out=f()),
    broken("TRANSPOSE_CONV_2D.C5", {"top": i(-1), "out": f()}, EXPLICIT),
    *rows("TRANSPOSE_CONV_2D.C6", shape=v(1, 4, 8), out=f()),
    broken("TRANSPOSE_CONV_2D.C7", {"left": i(4), "right": i(1), "out": f()}, EXPLICIT),
    *rows("TRANSPOSE_CONV_2D.C8", act=i(4)),
    *rows("TRANSPOSE_CONV_2D.C9", input=f(shape=(1, 0, 4, 3)), scheme=i(2), filter=f(2, 3, 2, 3), out=f()),
    broken("TRANSPOSE_CONV_2D.C10", {"input": f(shape=(0, 4, 4, 3)), "out": f()}, version=Version.V1_1),
    broken("TRANSPOSE_CONV_2D.C11", {"bias": n(2, scale=0.5)}, QUANT_TRANSPOSED),
    broken(
        "TRANSPOSE_CONV_2D.C12",
        {"filter": channels(3, 2, 2, 2, 3)},
        QUANT_TRANSPOSED | {"bias": n(2), "filter": channels(0, 2, 2, 2, 3)},
    ),
    *rows("TRANSPOSE_CONV_2D.C13", out=f(1, 4, 7, 2)),
    # Products.
    *rows("BATCH_MATMUL.C1", a=f(1, 1, 2, 3, 4), b=f(1, 1, 2, 4, 5), out=f()),
    *rows("BATCH_MATMUL.C2", b=f(4, 5)),
    *rows("BATCH_MATMUL.C3", b=f(2, 3, 5)),
    *rows("BATCH_MATMUL.C3", x=b(True), out=f()),
    *rows("BATCH_MATMUL.C3", y=b(True), out=f()),
    *rows("BATCH_MATMUL.C4", b=f(1, 4, 5)),
    *rows("BATCH_MATMUL.C5", b=f(shape=(2, 4, 0)), out=f()),
    *rows("BATCH_MATMUL.C6", out=f(2, 5, 3)),
    # Resizes.
    *resizes("C1", input=f(4, 3, 2), out=f()),
    *resizes("C2", width=i(0), out=f()),
    *resizes("C2", height=i(-3), out=f()),
    *resizes("C2", width=r(0.3), height=r(1.0), out=f()),
    *resizes("C2", width=r(2.0), height=r(-1.0), out=f()),
    *resizes("C2", width=r(float("nan")), height=r(1.0), out=f()),
    *resizes("C2", width=r(3e38), height=r(1.0), out=f()),
    *resizes("C3", align=b(True), half=b(True)),
    *resizes("C4", input=f(shape=(1, 0, 3, 2)), width=r(2.0), height=r(2.0), out=f()),
    *[
        broken(f"{name}.C5", {"input": f(shape=(0, 4, 3, 2)), "out": f()}, version=Version.V1_1)
        for name in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
    ],
    *resizes("C6", out=f(1, 6, 5, 2)),
    *[
        broken(f"{name}.C7", {"out": q(1, 5, 6, 2, zero=1)}, QUANT_RESIZE)
        for name in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
    ],
]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call_breaks_nothing(name: str) -> None:
    assert broken_by(name, Version.FL8, SOUND[name]) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_an_edit_breaks_one_clause(case: Broken) -> None:
    assert broken_without_and_with(case) == ([], [case.clause])


@pytest.mark.parametrize("name", sorted(SOUND.keys() - {"GROUPED_CONV_2D", "BATCH_MATMUL"}))
def test_an_empty_batch_is_legal_since_1_2(name: str) -> None:
    empty = f(shape=(0, 3)) if name == "FULLY_CONNECTED" else f(shape=(0, 4, 4, 3))
    assert broken_by(name, Version.V1_2, SOUND[name] | {"input": empty, "out": f()}) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_what_is_unknown_breaks_nothing(case: Broken) -> None:
    assert broken_while_unknown(case) == seen_while_unknown(case)


def test_every_clause_is_broken_by_an_edit() -> None:
    assert {case.clause for case in BROKEN} == {clause.id for name in SOUND for clause in rules.clauses(name)}
