"""Clauses of operations on boxes: a sound call, and one edit that breaks just that clause."""

from __future__ import annotations

from typing import Any

import pytest
from operation_calls import Broken, Call, Given, f, i, n, q, r, s, tensor, v, view
from rule_checks import broken_by, broken_while_unknown, broken_without_and_with, seen_while_unknown

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.types import Operand
from npu_conformance.specs.neuralnetworks.validate import reads_data
from npu_conformance.specs.versions import Version


def b(values: Any, *dimensions: int, quantized: bool = False, **quantization: Any) -> Given:
    """Boxes with their values: floats, or stored eighths."""
    if not quantized:
        return Given(f(*dimensions).operand, values)
    kind = OperandType.TENSOR_QUANT16_ASYMM
    return Given(tensor(kind, *dimensions, **{"scale": 0.125, **quantization}).operand, values)


ROIS = [[0, 0, 6, 4], [1, 1, 2, 2]]
POOLING = {
    "input": f(2, 4, 6, 3),
    "rois": b(ROIS, 2, 4),
    "batches": v(0, 1),
    "height": i(2),
    "width": i(3),
    "ratio_h": r(1.0),
    "ratio_w": r(1.0),
    "layout": i(0),
    "out": f(2, 2, 3, 3),
}
EIGHTHS = [[0, 0, 48, 32], [8, 8, 16, 16]]
QUANT_POOLING = POOLING | {
    "input": q(2, 4, 6, 3),
    "rois": b(EIGHTHS, 2, 4, quantized=True),
    "out": q(2, 2, 3, 3),
}


def flag(value: int) -> Given:
    return Given(Operand(OperandType.BOOL), value)


POOLING["layout"] = QUANT_POOLING["layout"] = flag(0)


def aligned(call: Call) -> Call:
    """The call of ROI_ALIGN that is like one of ROI_POOLING."""
    call = dict(call)
    layout, out = call.pop("layout"), call.pop("out")
    return call | {"sampling_h": i(0), "sampling_w": i(2), "layout": layout, "out": out}


HEATMAP = {"maps": f(2, 3, 3, 5), "boxes": b(ROIS, 2, 4), "layout": flag(0), "out0": f(2, 5), "out1": f(2, 5, 2)}
QUANT_HEATMAP = {
    "maps": q(2, 3, 3, 5),
    "boxes": b(EIGHTHS, 2, 4, quantized=True),
    "layout": flag(0),
    "out0": q(2, 5, scale=0.1),
    "out1": b(None, 2, 5, 2, quantized=True),
}
TRANSFORM = {"roi": b(ROIS, 2, 4), "deltas": f(2, 12), "batches": v(2, 0), "images": f(3, 2), "out": f(2, 12)}
QUANT_TRANSFORM = {
    "roi": b(EIGHTHS, 2, 4, quantized=True),
    "deltas": q(2, 12),
    "batches": v(2, 0),
    "images": b(None, 3, 2, quantized=True),
    "out": b(None, 2, 12, quantized=True),
}
BOXES = [[0, 0, 9, 9, 1, 1, 2, 3], [9, 9, 9, 9, 0, 0, 1, 1], [4, 4, 5, 5, 4, 4, 6, 6]]
LIMIT = {
    "scores": f(3, 2),
    "rois": b(BOXES, 3, 8),
    "batches": v(0, 1, 1),
    "score_threshold": r(0.1),
    "most": i(-1),
    "kernel": i(2),
    "overlap": r(0.5),
    "sigma": r(0.5),
    "lowest": r(0.1),
    "out0": f(0),
    "out1": f(0, 4),
    "out2": n(0),
    "out3": n(7),
}
QUANT_LIMIT = LIMIT | {
    "scores": q(3, 2),
    "rois": b(BOXES, 3, 8, quantized=True),
    "out0": q(0),
    "out1": b(None, 0, 4, quantized=True),
}
PROPOSALS = {
    "scores": f(2, 3, 5, 4),
    "deltas": f(2, 3, 5, 16),
    "anchors": f(4, 4),
    "images": f(2, 2),
    "height_stride": r(4.0),
    "width_stride": r(4.0),
    "before": i(-1),
    "after": i(0),
    "overlap": r(0.5),
    "least": r(1.0),
    "layout": flag(0),
    "out0": f(0),
    "out1": f(0, 4),
    "out2": n(0),
}
ANCHORS = tensor(OperandType.TENSOR_QUANT16_SYMM, 4, 4, scale=0.125)
QUANT_PROPOSALS = PROPOSALS | {
    "scores": q(2, 3, 5, 4),
    "deltas": q(2, 3, 5, 16),
    "anchors": ANCHORS,
    "images": b(None, 2, 2, quantized=True),
    "out0": q(0),
    "out1": b(None, 0, 4, quantized=True),
}
SIGNED_PROPOSALS = QUANT_PROPOSALS | {"scores": s(2, 3, 5, 4), "deltas": s(2, 3, 5, 16), "out0": s(0)}
NCHW = {"scores": f(2, 4, 3, 5), "deltas": f(2, 16, 3, 5), "layout": flag(1)}

DETECTION = {
    "scores": f(2, 5, 3),
    "deltas": f(2, 5, 6),
    "anchors": f(5, 4),
    "scale_y": r(1.0),
    "scale_x": r(1.0),
    "scale_h": r(1.0),
    "scale_w": r(1.0),
    "regular": flag(0),
    "most": i(3),
    "most_classes": i(2),
    "most_per_class": i(0),
    "score_threshold": r(0.0),
    "overlap": r(0.5),
    "background": flag(0),
    "out0": f(2, 6),
    "out1": f(2, 6, 4),
    "out2": n(2, 6),
    "out3": n(2),
}
REGULAR = {"regular": flag(1), "most_classes": i(-1), "most_per_class": i(1)}
REGULAR |= {"out0": f(2, 3), "out1": f(2, 3, 4), "out2": n(2, 3)}

SOUND: dict[str, Call] = {
    "ROI_POOLING": POOLING,
    "ROI_ALIGN": aligned(POOLING),
    "HEATMAP_MAX_KEYPOINT": HEATMAP,
    "AXIS_ALIGNED_BBOX_TRANSFORM": TRANSFORM,
    "BOX_WITH_NMS_LIMIT": LIMIT,
    "GENERATE_PROPOSALS": PROPOSALS,
    "DETECTION_POSTPROCESSING": DETECTION,
}
QUANT: dict[str, Call] = {
    "ROI_POOLING": QUANT_POOLING,
    "ROI_ALIGN": aligned(QUANT_POOLING),
    "HEATMAP_MAX_KEYPOINT": QUANT_HEATMAP,
    "AXIS_ALIGNED_BBOX_TRANSFORM": QUANT_TRANSFORM,
    "BOX_WITH_NMS_LIMIT": QUANT_LIMIT,
    "GENERATE_PROPOSALS": QUANT_PROPOSALS,
}


def rows(*numbers: str, **changes: Given) -> list[Broken]:
    """The same edit of float calls for clauses of several operations."""
    return [Broken(number, changes, SOUND[number.partition(".")[0]], Version.FL8) for number in numbers]


def quant_rows(*numbers: str, **changes: Given) -> list[Broken]:
    """The same edit of quantised calls."""
    return [Broken(number, changes, QUANT[number.partition(".")[0]], Version.FL8) for number in numbers]


NAN = float("nan")
_NEWEST = Version.FL8
BROKEN = [
    *rows("ROI_POOLING.C1", "ROI_ALIGN.C1", input=f(2, 4, 6), out=f()),
    *rows("ROI_POOLING.C2", "ROI_ALIGN.C2", rois=f(2, 5)),
    *rows("ROI_POOLING.C2", "ROI_ALIGN.C2", batches=v(0, 1, 0)),
    *rows("ROI_POOLING.C3", "ROI_ALIGN.C3", batches=v(0, 2)),
    *rows("ROI_POOLING.C3", "ROI_ALIGN.C3", batches=v(-1, 1)),
    *rows("ROI_POOLING.C4", "ROI_ALIGN.C4", height=i(0)),
    *rows("ROI_POOLING.C4", "ROI_ALIGN.C4", width=i(-1)),
    *rows("ROI_POOLING.C4", "ROI_ALIGN.C4", ratio_h=r(0.0)),
    *rows("ROI_POOLING.C4", "ROI_ALIGN.C4", ratio_w=r(NAN)),
    *rows("ROI_ALIGN.C5", sampling_h=i(-1)),
    *rows("ROI_ALIGN.C5", sampling_w=i(-2)),
    *rows("ROI_POOLING.C5", "ROI_ALIGN.C6", rois=b([[0, 0, 6, 4], [2.5, 1, 2, 2]], 2, 4)),
    *rows("ROI_POOLING.C5", "ROI_ALIGN.C6", rois=b([[0, 3, 6, 2], [1, 1, 2, 2]], 2, 4)),
    *quant_rows("ROI_POOLING.C5", "ROI_ALIGN.C6", rois=b([[9, 0, 8, 4], [1, 1, 2, 2]], 2, 4, quantized=True)),
    *rows("ROI_POOLING.C6", "ROI_ALIGN.C7", rois=b([[-1, 0, 6, 4], [1, 1, 2, 2]], 2, 4)),
    *rows("ROI_POOLING.C6", "ROI_ALIGN.C7", rois=b([[0, 0, 6, 4], [1, 1, 6.5, 2]], 2, 4)),
    *rows("ROI_POOLING.C6", "ROI_ALIGN.C7", rois=b([[0, 0, 6, 4], [1, 1, 2, 4.5]], 2, 4)),
    *rows("ROI_POOLING.C6", "ROI_ALIGN.C7", ratio_w=r(0.5)),
    *rows("ROI_POOLING.C6", "ROI_ALIGN.C7", ratio_h=r(0.5)),
    *quant_rows("ROI_POOLING.C6", "ROI_ALIGN.C7", rois=b([[0, 0, 49, 32], [8, 8, 16, 16]], 2, 4, quantized=True)),
    *quant_rows("ROI_POOLING.C7", "ROI_ALIGN.C8", rois=b(EIGHTHS, 2, 4, quantized=True, scale=0.25)),
    *quant_rows("ROI_POOLING.C7", "ROI_ALIGN.C8", rois=b(EIGHTHS, 2, 4, quantized=True, zero_point=1)),
    *rows("ROI_POOLING.C8", rois=f(0, 4, shape=(0, 4)), batches=v(), out=f()),
    *rows("ROI_POOLING.C8", "ROI_ALIGN.C9", input=f(2, 4, 6, 0, shape=(2, 4, 6, 0)), out=f()),
    *rows("ROI_POOLING.C9", "ROI_ALIGN.C10", out=f(2, 3, 2, 3)),
    *rows("ROI_POOLING.C9", "ROI_ALIGN.C10", layout=flag(1), input=f(2, 3, 4, 6)),
    *quant_rows("ROI_POOLING.C10", out=q(2, 2, 3, 3, scale=0.25)),
    *quant_rows("ROI_ALIGN.C11", sampling_h=i(2), out=q(2, 2, 3, 3, scale=0.5 / 1020)),
    *rows("HEATMAP_MAX_KEYPOINT.C1", maps=f(2, 9, 5), out0=f(), out1=f()),
    *rows("HEATMAP_MAX_KEYPOINT.C2", boxes=f(3, 4)),
    *rows("HEATMAP_MAX_KEYPOINT.C2", boxes=f(2, 5)),
    *rows("HEATMAP_MAX_KEYPOINT.C3", maps=f(2, 3, 4, 5)),
    *rows("HEATMAP_MAX_KEYPOINT.C3", maps=f(2, 4, 3, 5)),
    *rows("HEATMAP_MAX_KEYPOINT.C3", maps=f(2, 1, 1, 5)),
    *rows("HEATMAP_MAX_KEYPOINT.C3", layout=flag(1), out0=f(2, 3), out1=f(2, 3, 2)),
    *rows("HEATMAP_MAX_KEYPOINT.C4", boxes=b([[0, 0, 6, 4], [1, 1, 0.5, 2]], 2, 4)),
    *rows("HEATMAP_MAX_KEYPOINT.C4", boxes=b([[0, 0, 6, NAN], [1, 1, 2, 2]], 2, 4)),
    *quant_rows("HEATMAP_MAX_KEYPOINT.C5", boxes=b(EIGHTHS, 2, 4, quantized=True, scale=0.25)),
    *quant_rows("HEATMAP_MAX_KEYPOINT.C5", out1=b(None, 2, 5, 2, quantized=True, zero_point=8)),
    *rows("HEATMAP_MAX_KEYPOINT.C6", maps=f(2, 3, 3, 0, shape=(2, 3, 3, 0)), out0=f(), out1=f()),
    *rows("HEATMAP_MAX_KEYPOINT.C7", out0=f(2, 3)),
    *rows("HEATMAP_MAX_KEYPOINT.C7", out1=f(2, 5, 4)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C1", roi=f(8), out=f()),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C2", roi=f(2, 5)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C2", deltas=f(2, 10), out=f()),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C2", deltas=f(3, 12)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C2", images=f(3, 3)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C3", deltas=f(shape=(2, 0)), out=f()),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C4", batches=v(3, 0)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C4", batches=v(0, -1)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C5", roi=b([[0, 5, 6, 4], [1, 1, 2, 2]], 2, 4)),
    *quant_rows("AXIS_ALIGNED_BBOX_TRANSFORM.C6", roi=b(EIGHTHS, 2, 4, quantized=True, zero_point=1)),
    *quant_rows("AXIS_ALIGNED_BBOX_TRANSFORM.C6", images=b(None, 3, 2, quantized=True, scale=1.0)),
    *quant_rows("AXIS_ALIGNED_BBOX_TRANSFORM.C6", out=b(None, 2, 12, quantized=True, scale=0.0625)),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C7", batches=v(), images=f(shape=(0, 2)), roi=f(), deltas=f()),
    *rows("AXIS_ALIGNED_BBOX_TRANSFORM.C8", out=f(2, 8)),
    *rows("BOX_WITH_NMS_LIMIT.C1", rois=f(3, 2, 4)),
    *rows("BOX_WITH_NMS_LIMIT.C2", rois=f(3, 12)),
    *rows("BOX_WITH_NMS_LIMIT.C2", rois=f(3, 6)),
    *rows("BOX_WITH_NMS_LIMIT.C2", batches=v(0, 1)),
    *rows("BOX_WITH_NMS_LIMIT.C3", scores=f(3, 1), rois=f(3, 4)),
    *rows("BOX_WITH_NMS_LIMIT.C4", kernel=i(3)),
    *rows("BOX_WITH_NMS_LIMIT.C4", kernel=i(-1)),
    *rows("BOX_WITH_NMS_LIMIT.C5", rois=b([[1, 0, 0, 9, *BOXES[0][4:]], *BOXES[1:]], 3, 8)),
    *rows("BOX_WITH_NMS_LIMIT.C5", rois=b([*BOXES[:1], [9, 9, 9, 9, 0, 1, 1, 0], BOXES[2]], 3, 8)),
    *quant_rows("BOX_WITH_NMS_LIMIT.C6", rois=b(BOXES, 3, 8, quantized=True, scale=0.25)),
    *quant_rows("BOX_WITH_NMS_LIMIT.C6", out1=b(None, 0, 4, quantized=True, zero_point=1)),
    *quant_rows("BOX_WITH_NMS_LIMIT.C7", out0=q(0, zero=1)),
    *quant_rows("BOX_WITH_NMS_LIMIT.C7", out0=q(0, scale=0.25)),
    *rows("BOX_WITH_NMS_LIMIT.C9", out1=f(0, 8)),
    *rows("GENERATE_PROPOSALS.C1", images=f(2)),
    *rows("GENERATE_PROPOSALS.C2", deltas=f(2, 3, 5, 12)),
    *rows("GENERATE_PROPOSALS.C2", anchors=f(3, 4)),
    *rows("GENERATE_PROPOSALS.C2", images=f(2, 3)),
    *rows("GENERATE_PROPOSALS.C2", images=f(1, 2)),
    *rows("GENERATE_PROPOSALS.C2", layout=flag(1)),
    *rows("GENERATE_PROPOSALS.C2", **{**NCHW, "layout": flag(0)}),
    *quant_rows("GENERATE_PROPOSALS.C3", anchors=tensor(OperandType.TENSOR_QUANT16_SYMM, 4, 4, scale=0.5)),
    *quant_rows("GENERATE_PROPOSALS.C3", images=b(None, 2, 2, quantized=True, zero_point=1)),
    *quant_rows("GENERATE_PROPOSALS.C3", out1=b(None, 0, 4, quantized=True, scale=0.25)),
    Broken("GENERATE_PROPOSALS.C4", {"images": b(None, 2, 2, quantized=True, zero_point=1)}, SIGNED_PROPOSALS, _NEWEST),
    Broken("GENERATE_PROPOSALS.C4", {"out1": b(None, 0, 4, quantized=True, scale=0.25)}, SIGNED_PROPOSALS, _NEWEST),
    *quant_rows("GENERATE_PROPOSALS.C5", out0=q(0, zero=9)),
    *rows("GENERATE_PROPOSALS.C6", scores=f(shape=(0, 3, 5, 4)), deltas=f(), images=f()),
    *rows("GENERATE_PROPOSALS.C7", out1=f(0, 5)),
    *rows("DETECTION_POSTPROCESSING.C1", deltas=f(10, 6)),
    *rows("DETECTION_POSTPROCESSING.C2", anchors=f(4, 4)),
    *rows("DETECTION_POSTPROCESSING.C2", anchors=f(5, 5)),
    *rows("DETECTION_POSTPROCESSING.C2", deltas=f(1, 5, 6)),
    *rows("DETECTION_POSTPROCESSING.C3", deltas=f(2, 5, 3)),
    *rows("DETECTION_POSTPROCESSING.C4", scores=f(2, 5, 1)),
    *rows("DETECTION_POSTPROCESSING.C5", scale_y=r(0.0)),
    *rows("DETECTION_POSTPROCESSING.C5", scale_w=r(-1.0)),
    *rows("DETECTION_POSTPROCESSING.C6", score_threshold=r(-0.5)),
    *rows("DETECTION_POSTPROCESSING.C6", overlap=r(NAN)),
    *rows("DETECTION_POSTPROCESSING.C7", most=i(0)),
    *rows("DETECTION_POSTPROCESSING.C8", **REGULAR | {"most_per_class": i(0)}),
    *rows("DETECTION_POSTPROCESSING.C9", most_classes=i(-1)),
    *rows("DETECTION_POSTPROCESSING.C10", scores=f(shape=(2, 0, 3)), deltas=f(), anchors=f()),
    *rows("DETECTION_POSTPROCESSING.C11", out0=f(2, 3)),
    *rows("DETECTION_POSTPROCESSING.C11", out1=f(2, 6, 5)),
    *rows("DETECTION_POSTPROCESSING.C11", **REGULAR | {"out2": n(2, 6)}),
    *rows("DETECTION_POSTPROCESSING.C11", out3=n(3)),
]

_OLD_EMPTY = {
    # Operations that take no boxes since 1.2: only a view of an older version, which no model has, breaks the clause.
    "BOX_WITH_NMS_LIMIT.C8": {"scores": f(shape=(0, 2)), "rois": f(shape=(0, 8)), "batches": v()},
}

_LEGAL = [
    # What is legal, and beside the edits above.
    ("BOX_WITH_NMS_LIMIT", _OLD_EMPTY["BOX_WITH_NMS_LIMIT.C8"]),
    ("BOX_WITH_NMS_LIMIT", {"out0": f(), "out1": f(5, 0)}),
    # Boxes after the first n of a batch are not looked at.
    ("BOX_WITH_NMS_LIMIT", {"rois": b([[*BOXES[0][:4], 3, 3, 2, 2], *BOXES[1:]], 3, 8)}),
    ("ROI_POOLING", {"ratio_h": r(2.0), "ratio_w": r(4.0)}),
    # A little beyond the edges at 6 and 4 elements, as much as a rounded quotient can be.
    (
        "ROI_POOLING",
        {"ratio_h": r(0.7), "ratio_w": r(0.1), "rois": b([[0, 0, 0.60004, 2.8001], [0, 0, 0.1, 0.1]], 2, 4)},
    ),
    ("ROI_ALIGN", {"rois": b([[6, 4, 6, 4], [0, 0, 0, 0]], 2, 4)}),
    ("ROI_ALIGN", {"rois": f(0, 4, shape=(0, 4)), "batches": v(), "out": f(0, 2, 3, 3)}),
    ("AXIS_ALIGNED_BBOX_TRANSFORM", {"roi": f(shape=(0, 4)), "deltas": f(shape=(0, 8)), "batches": v(), "out": f()}),
    ("GENERATE_PROPOSALS", NCHW),
    ("GENERATE_PROPOSALS", SIGNED_PROPOSALS),
    ("DETECTION_POSTPROCESSING", REGULAR),
    ("HEATMAP_MAX_KEYPOINT", {"layout": flag(1), "maps": f(2, 5, 3, 3)}),
]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call_breaks_nothing(name: str) -> None:
    assert broken_by(name, Version.FL8, SOUND[name]) == []
    if name in QUANT:
        assert broken_by(name, Version.FL8, QUANT[name]) == []


@pytest.mark.parametrize(("name", "changes"), _LEGAL)
def test_what_is_legal_breaks_nothing(name: str, changes: Call) -> None:
    assert broken_by(name, Version.FL8, SOUND[name] | changes) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_an_edit_breaks_one_clause(case: Broken) -> None:
    assert broken_without_and_with(case) == ([], [case.clause])


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.clause)
def test_what_is_unknown_breaks_nothing(case: Broken) -> None:
    assert broken_while_unknown(case) == seen_while_unknown(case)


@pytest.mark.parametrize("clause", _OLD_EMPTY)
def test_no_boxes_are_legal_since_1_2(clause: str) -> None:
    name = clause.partition(".")[0]
    call = SOUND[name] | _OLD_EMPTY[clause]
    assert broken_by(name, Version.V1_2, call) == []
    assert broken_by(name, Version.V1_1, call) == [clause]


def test_every_clause_is_broken_by_an_edit() -> None:
    broken_here = {case.clause for case in BROKEN} | _OLD_EMPTY.keys()
    everything = {clause.id for name in SOUND for clause in rules.clauses(name)}
    assert everything == broken_here


@pytest.mark.parametrize("name", SOUND)
def test_values_of_boxes_matter_where_a_clause_looks_at_them(name: str) -> None:
    code = view(name, Version.FL8, SOUND[name]).operation.type
    assert reads_data(code) == (name not in ("GENERATE_PROPOSALS", "DETECTION_POSTPROCESSING"))
    assert not reads_data(0)
