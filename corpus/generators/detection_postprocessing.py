"""The generator of DETECTION_POSTPROCESSING. Overlaps and scores stay away from the limits, see `_spaced_boxes`.

By hand: anchors (y, x, height, width) (8, 8, 16, 16), (8, 12, 16, 16) and (8, 16, 16, 16) without deltas are the boxes
(0, 0, 16, 16), (0, 4, 16, 20) and (0, 8, 16, 24) as y1, x1, y2, x2. The first and the second overlap by 3/5, the first
and the third by 1/3: with threshold 1/2 and falling scores the first and the third stay. A delta dy of 8 with scale 8
moves an anchor down by its height.
"""

import itertools
from typing import Any

import numpy

from npu_conformance.corpus.generators._as_reals import as_reals
from npu_conformance.corpus.generators._boxes import number, rejections, values, whole_numbers
from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._spaced_boxes import scores
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import Array, dyadic
from npu_conformance.corpus.generators.operands import Operands, boolean, int32, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "DETECTION_POSTPROCESSING"
_SCALES = {"scale_y": 8.0, "scale_x": 4.0, "scale_h": 2.0, "scale_w": 16.0}
_ANCHORS = [
    (8.0, 8.0, 16.0, 16.0),
    (8.0, 12.0, 16.0, 16.0),
    (8.0, 16.0, 16.0, 16.0),
    (40.0, 30.0, 8.0, 24.0),
    (43.0, 30.0, 8.0, 24.0),
    (20.0, 50.0, 20.0, 10.0),
]
_INTEGERS = ("classes_out", "num_detections")
_SEED = 100
"""Of the data of the pairwise cover: no overlap lies near a limit."""


def vectors() -> Vectors:
    """Pairwise over all parameters of either suppression; cases by hand; no or few results; sizes open; rejections."""
    for regular in (True, False):
        parameters: dict[str, list[Any]] = {
            "kind": ["float32", "float16"],
            "most": [2, 5],
            "each": [1, 3],
            "classes": [3, 4],
            "columns": [4, 6],
            "overlap": [0.3, 0.55],
            "background": [False, True],
        }
        rows = list(pairwise(parameters))
        covering = [_covering(regular, _SEED + 2 * seed, row) for seed, row in enumerate(rows)]
        yield from covering
        with_background = (row["background"] and row["kind"] == "float32" for row in rows)
        yield as_reals(next(itertools.compress(covering, with_background)), *_INTEGERS)
    yield from _by_hand()
    yield from _few()
    yield from _unused_limits()
    yield _many_results()
    yield _sizes_unknown()
    yield from _rejected()


def _covering(regular: bool, seed: int, row: dict[str, Any]) -> Vector:
    given = numpy.stack([scores(seed + batch, 6 * row["classes"]).reshape(6, -1) for batch in range(2)])
    deltas = dyadic(seed + 1, (2, 6, row["columns"]), -0.5, 0.5, 0.125)
    limits = (row["most"], row["each"] if not regular else 9, row["each"] if regular else 9)
    name = f"{row['kind']}_{'regular' if regular else 'fast'}_{row['most']}_of_{row['each']}_{row['classes']}_classes"
    name += f"_{row['columns']}_columns_overlap_{round(100 * row['overlap'])}"
    scalars = _scalars(row["kind"], regular, limits, overlap=row["overlap"], background=row["background"])
    return _positive(name + ("_background" if row["background"] else ""), row["kind"], given, deltas, scalars)


def _scalars(
    kind: str,
    regular: bool,
    limits: tuple[int, int, int],
    *,
    threshold: float = 0.23,
    overlap: float = 0.5,
    background: bool = False,
) -> Operands:
    """limits: detections, classes per detection, detections per class."""
    return {
        **{name: number(kind, scale) for name, scale in _SCALES.items()},
        "use_regular_nms": boolean(regular),
        "max_detections": int32(limits[0]),
        "max_classes_per_detection": int32(limits[1]),
        "max_detections_per_class": int32(limits[2]),
        "score_threshold": number(kind, threshold),
        "iou_threshold": number(kind, overlap),
        "background_in_label": boolean(background),
    }


def _operands(
    kind: str, given: Array, deltas: Array, scalars: Operands, rows: int, anchors: Any = _ANCHORS
) -> tuple[Operands, Operands]:
    batches = given.shape[0]
    inputs = {
        "scores": values(kind, given.shape, given),
        "deltas": values(kind, deltas.shape, deltas),
        "anchors": values(kind, (len(anchors), 4), anchors),
        **scalars,
    }
    return inputs, {
        "scores_out": values(kind, (batches, rows)),
        "boxes_out": values(kind, (batches, rows, 4)),
        "classes_out": whole_numbers((batches, rows)),
        "num_detections": whole_numbers((batches,)),
    }


def _positive(
    name: str, kind: str, given: Array, deltas: Array, scalars: Operands, description: str = "", anchors: Any = _ANCHORS
) -> Vector:
    regular, most, each = (_value(scalars, key) for key in _ROWS)
    rows = most if regular else most * each
    inputs, outputs = _operands(kind, given, deltas, scalars, rows, anchors)
    return positive(
        name,
        OPERATION,
        inputs,
        outputs,
        since="1.2",
        hazards=["box-coordinates", "suppression-rules"],
        description=description,
    )


_ROWS = ("use_regular_nms", "max_detections", "max_classes_per_detection")


def _value(scalars: Operands, name: str) -> int:
    return int(numpy.asarray(scalars[name].data).item())


def _by_hand() -> Vectors:
    """The anchors of the module's text; class 2 has another order, and a delta moves the second anchor of batch 1."""
    anchors = _ANCHORS[:3]
    given = numpy.array([[(0.5, 0.875, 0.25), (0.5, 0.75, 0.5), (0.5, 0.625, 0.375)]] * 2)
    deltas = numpy.zeros((2, 3, 4))
    deltas[1, 1, 0] = 8.0
    texts = {
        True: "batch 0: anchors 0 and 2 of class 1, 1 of class 2; batch 1: all three of class 1, 1 and 2 of class 2",
        False: "batch 0: anchors 0 and 2; batch 1: anchor 1 is 16 lower, so that all three stay",
    }
    for regular, text in texts.items():
        scalars = _scalars("float32", regular, (6, 2, 3), threshold=0.3)
        name = f"float32_{'regular' if regular else 'fast'}_by_hand"
        alone = _positive(name, "float32", given, deltas, scalars, text, anchors)
        yield alone
        yield as_reals(alone, *_INTEGERS)


def _few() -> Vectors:
    """A batch with results and one without: all rows of that one are zero."""
    given = numpy.stack([scores(60, 18).reshape(6, 3), numpy.full((6, 3), 0.125)])
    given[1, :, 0] = 0.9375
    deltas = dyadic(61, (2, 6, 4), -0.25, 0.25, 0.125)
    for regular in (True, False):
        name = f"float32_{'regular' if regular else 'fast'}_one_batch_without_results"
        alone = _positive(name, "float32", given, deltas, _scalars("float32", regular, (5, 1, 4), background=True))
        yield alone
        yield as_reals(alone, *_INTEGERS)


def _unused_limits() -> Vectors:
    """Either kind of suppression has a limit that the other does not look at; here that is 0."""
    given = numpy.stack([scores(_SEED + batch, 18).reshape(6, 3) for batch in range(2)])
    deltas = dyadic(_SEED, (2, 6, 4), -0.125, 0.125, 0.125)
    for regular, limits in ((True, (4, 0, 2)), (False, (4, 1, 0))):
        name = f"float32_{'regular' if regular else 'fast'}_other_limit_0"
        yield _positive(name, "float32", given, deltas, _scalars("float32", regular, limits))


def _many_results() -> Vector:
    """Two anchors apart from each other, in each of 515 images."""
    batches = 515
    scalars = _scalars("float32", True, (2, 1, 2), threshold=0.5)
    inputs, outputs = _operands(
        "float32", numpy.zeros((batches, 2, 3)), numpy.zeros((batches, 2, 4)), scalars, 2, [_ANCHORS[0], _ANCHORS[3]]
    )
    made = {
        "scores": GeneratorDocument(kind="uniform", seed=65, low=0.25, high=1.0),
        "deltas": GeneratorDocument(kind="dyadic", seed=66, low=-0.5, high=0.5, step=0.125),
    }
    inputs |= {
        name: tensor(OperandType.TENSOR_FLOAT32, inputs[name].operand.dimensions, data) for name, data in made.items()
    }
    return positive(
        "float32_many_results", OPERATION, inputs, outputs, since="1.2", description=BEHIND_4096,
        excluded=["float16", "relaxed"],
    )  # fmt: skip


def _sizes_unknown() -> Vector:
    given, deltas = numpy.stack([scores(_SEED, 18).reshape(6, 3)] * 2), dyadic(_SEED, (2, 6, 5), -0.25, 0.25, 0.125)
    given[1] = given[0, ::-1]
    inputs, _ = _operands("float32", given, deltas, _scalars("float32", False, (3, 2, 3), overlap=0.4), 6)
    inputs |= {
        "scores": values("float32", (0, 6, 0), given, shape=given.shape),
        "deltas": values("float32", (2, 0, 0), deltas, shape=deltas.shape),
        "anchors": values("float32", (0, 4), _ANCHORS, shape=(6, 4)),
    }
    outputs = {
        "scores_out": values("float32", (0, 6)),
        "boxes_out": values("float32", ()),
        "classes_out": whole_numbers(()),
        "num_detections": whole_numbers((0,)),
    }
    return positive("float32_sizes_unknown", OPERATION, inputs, outputs, since="1.2")


def _rejected() -> Vectors:
    given, deltas = scores(90, 6).reshape(1, 2, 3), numpy.zeros((1, 2, 4))
    sound = {
        name: _operands("float32", given, deltas, _scalars("float32", name == "regular", (2, 2, 2)), rows, _ANCHORS[:2])
        for name, rows in (("regular", 2), ("fast", 4))
    }
    flat, narrow = given.reshape(2, 3), numpy.zeros((1, 2, 3))
    cases: dict[str, tuple[str, str, Operands]] = {
        "rank_2": (RANK_CLAUSE, "fast", {"scores": values("float32", (2, 3), flat)}),
        "rank_2_at_execution": ("C1", "fast", {"scores": values("float32", (), flat, shape=(1, 6))}),
        "other_anchors": ("C2", "fast", {"anchors": values("float32", (3, 4), _ANCHORS[:3])}),
        "anchors_of_5": ("C2", "fast", {"anchors": values("float32", (2, 5), numpy.zeros(10))}),
        "deltas_of_other_batches": ("C2", "fast", {"deltas": values("float32", (2, 2, 4), numpy.zeros(16))}),
        "deltas_of_other_anchors": ("C2", "fast", {"deltas": values("float32", (1, 3, 4), numpy.zeros(12))}),
        "deltas_of_3": ("C3", "fast", {"deltas": values("float32", (1, 2, 3), narrow)}),
        "one_class": ("C4", "fast", {"scores": values("float32", (1, 2, 1), given[..., 1])}),
        "scale_of_float16": ("MODEL.P3", "fast", {"scale_y": number("float16", 8.0)}),
        "scores_out_of_more_rows": ("C11", "fast", {"scores_out": values("float32", (1, 5))}),
        "regular_scores_out_of_fast": ("C11", "regular", {"scores_out": values("float32", (1, 4))}),
        "boxes_out_of_5": ("C11", "fast", {"boxes_out": values("float32", (1, 4, 5))}),
        "classes_out_of_fewer_rows": ("C11", "fast", {"classes_out": whole_numbers((1, 3))}),
        "counts_of_2_batches": ("C11", "fast", {"num_detections": whole_numbers((2,))}),
    }
    for name in _SCALES:
        cases[f"{name}_0"] = ("C5", "fast", {name: number("float32", 0.0)})
    cases["scale_w_negative"] = ("C5", "fast", {"scale_w": number("float32", -1.0)})
    for name in ("score_threshold", "iou_threshold"):
        cases[f"{name}_negative"] = ("C6", "fast", {name: number("float32", -0.5)})
    for kind, name, clause in _LIMITS:
        cases[f"{kind}_{name}_0"] = (clause, kind, {name: int32(0)})
        cases[f"{kind}_{name}_negative"] = (clause, kind, {name: int32(-1)})
    yield from rejections(OPERATION, sound, cases)


_LIMITS = (
    ("fast", "max_detections", "C7"),
    ("regular", "max_detections_per_class", "C8"),
    ("fast", "max_classes_per_detection", "C9"),
)
