"""The generator of GENERATE_PROPOSALS. Overlaps, sides and scores stay away from the limits, see `_spaced_boxes`.

No third party has the operation. By hand: one anchor (0, 0, 8, 8) at two places 4 apart. Without deltas the boxes are
(0, 0, 8, 8) and (4, 0, 12, 8), whose overlap is 32/96 = 1/3: with threshold 3/10 only the better one stays, with 2/5
both. A delta dx of 1/2 moves the second by 4 to (8, 0, 16, 8), of which an image 14 wide leaves (8, 0, 14, 8).
"""

from collections.abc import Sequence
from typing import Any

import numpy

from npu_conformance.corpus.generators._as_reals import as_reals
from npu_conformance.corpus.generators._boxes import (
    boxes,
    declared,
    number,
    rejections,
    requantized,
    values,
    whole_numbers,
)
from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._spaced_boxes import scores
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import Array, dyadic
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, boolean, constant, int32, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "GENERATE_PROPOSALS"
_KINDS = ("float32", "float16", "quant8", "quant8_signed")
_SCORES: dict[str, Any] = {"scale": 1 / 128, "zero_point": 4}
_ANCHORS = [(-4.0, -6.0, 12.0, 10.0), (-10.0, 0.5, 10.0, 9.0)]
_IMAGES = [(30.0, 44.0), (25.5, 36.25)]
_SEED = 0
"""Of the data of the pairwise cover: no overlap or side lies near a limit."""


def vectors() -> Vectors:
    """Pairwise over all parameters; a case by hand; zero results; sizes left open; rejections."""
    parameters: dict[str, list[Any]] = {
        "kind": list(_KINDS),
        "layout": ["nhwc", "nchw"],
        "before": [-1, 0, 7],
        "after": [-1, 2, 4],
        "least": [1.0, 10.0],
        "overlap": [0.3, 0.6],
    }
    for seed, row in enumerate(pairwise(parameters)):
        limits = (row["before"], row["after"])
        words = [row["kind"], row["layout"], *_spelled(limits), f"least_{round(row['least'])}"]
        name = "_".join([*words, f"overlap_{round(10 * row['overlap'])}"])
        data = _data(_SEED + 2 * seed)
        yield _positive(
            name,
            row["kind"],
            *data,
            row["layout"] == "nchw",
            _scalars(row["kind"], limits, row["overlap"], row["least"]),
        )
    for kind, limits in (("float32", (1, -1)), ("quant8", (-1, 1))):
        words = [kind, *_spelled(limits)]
        yield _positive("_".join(words), kind, *_data(40), False, _scalars(kind, limits, 0.5, 1.0))
    yield from _by_hand()
    yield from _second_image_larger()
    yield _many_results()
    yield from _nothing_left()
    yield from _sizes_unknown()
    yield from _rejected()


def _spelled(limits: tuple[int, int]) -> list[str]:
    words = zip(("before", "after"), limits, strict=True)
    return [f"{word}_{'minus_1' if limit < 0 else limit}" for word, limit in words]


def _data(seed: int) -> tuple[Array, Array]:
    """Scores [2, 2, 3, 2], and deltas of up to 1/2."""
    given = scores(seed, 24).reshape(2, 2, 3, 2)
    return given, dyadic(seed + 1, (2, 2, 3, 8), -0.5, 0.5, 0.0625)


def _scalars(kind: str, limits: tuple[int, int], overlap: float, least: float) -> Operands:
    return {
        "height_stride": number(kind, 11.0),
        "width_stride": number(kind, 14.0),
        "pre_nms_topn": int32(limits[0]),
        "post_nms_topn": int32(limits[1]),
        "iou_threshold": number(kind, overlap),
        "min_size": number(kind, least),
    }


def _anchors(kind: str, given: Sequence[tuple[float, ...]]) -> OperandSpec:
    if kind.startswith("float"):
        return boxes(kind, (len(given), 4), given)
    return tensor(OperandType.TENSOR_QUANT16_SYMM, (len(given), 4), numpy.array(given) * 8, scale=0.125)


def _operands(
    kind: str,
    given: Array,
    deltas: Array,
    nchw: bool,
    scalars: Operands,
    anchors: Sequence[tuple[float, ...]] = _ANCHORS,
    images: Sequence[tuple[float, float]] = _IMAGES,
) -> tuple[Operands, Operands]:
    if nchw:
        given, deltas = given.transpose(0, 3, 1, 2), deltas.transpose(0, 3, 1, 2)
    inputs = {
        "scores": values(kind, given.shape, given, **_SCORES),
        "bbox_deltas": values(kind, deltas.shape, deltas, zero_point=128),
        "anchors": _anchors(kind, anchors),
        "image_info": boxes(kind, (len(images), 2), images),
        **scalars,
        "nchw_layout": boolean(nchw),
    }
    outputs = {"scores_out": values(kind, (0,), **_SCORES), "rois_out": boxes(kind, (0, 4))}
    return inputs, {**outputs, "batches_out": whole_numbers((0,))}


def _positive(
    name: str, kind: str, given: Array, deltas: Array, nchw: bool, scalars: Operands, description: str = "", **rest: Any
) -> Vector:
    inputs, outputs = _operands(kind, given, deltas, nchw, scalars, **rest)
    return declared(
        positive(
            name,
            OPERATION,
            inputs,
            outputs,
            since="1.2",
            hazards=["box-coordinates", "suppression-rules", "sizes-found-late"],
            description=description,
        )
    )


def _by_hand() -> Vectors:
    given = numpy.array([0.5, 0.75, 0.75, 0.25]).reshape(2, 1, 2, 1)
    deltas = numpy.zeros((2, 1, 2, 4))
    deltas[1, 0, 1, 0] = 0.5
    for kind in ("float32", "quant8"):
        for overlap, left in ((0.3, "(4, 0, 12, 8)"), (0.4, "(4, 0, 12, 8) and (0, 0, 8, 8)")):
            scalars = _scalars(kind, (-1, -1), overlap, 1.0) | {"width_stride": number(kind, 4.0)}
            alone = _positive(
                f"{kind}_by_hand_overlap_{round(10 * overlap)}",
                kind,
                given,
                deltas,
                False,
                scalars,
                f"batch 0: {left}; batch 1: (0, 0, 8, 8) and (8, 0, 14, 8)",
                anchors=[(0.0, 0.0, 8.0, 8.0)],
                images=[(8.0, 20.0), (9.0, 14.0)],
            )
            yield alone
            yield as_reals(alone, "batches_out")


def _second_image_larger() -> Vectors:
    given = numpy.array([0.5, 0.75, 0.75, 0.25]).reshape(2, 1, 2, 1)
    deltas = numpy.zeros((2, 1, 2, 4))
    deltas[1, 0, 1, 0] = 1.0
    for kind in ("float32", "quant8"):
        yield _positive(
            f"{kind}_second_image_larger",
            kind,
            given,
            deltas,
            False,
            _scalars(kind, (-1, -1), 0.4, 1.0) | {"width_stride": number(kind, 4.0)},
            "batch 1: (0, 0, 8, 8) and (12, 0, 20, 8), whose centre lies outside of the first image",
            anchors=[(0.0, 0.0, 8.0, 8.0)],
            images=[(9.0, 14.0), (8.0, 20.0)],
        )


def _many_results() -> Vector:
    """Two anchors apart from each other, in each of 515 images."""
    images = 515
    scalars = _scalars("float32", (-1, -1), 0.5, 1.0)
    anchors = [(0.0, 0.0, 8.0, 8.0), (16.0, 4.0, 28.0, 20.0)]
    inputs, outputs = _operands(
        "float32", numpy.zeros((images, 1, 1, 2)), numpy.zeros((images, 1, 1, 8)), False, scalars, anchors
    )
    made = {
        "scores": GeneratorDocument(kind="uniform", seed=62, low=0.25, high=1.0),
        "bbox_deltas": GeneratorDocument(kind="dyadic", seed=63, low=-0.25, high=0.25, step=0.0625),
        "image_info": GeneratorDocument(kind="dyadic", seed=64, low=64.0, high=64.0, step=1.0),
    }
    shapes = {"scores": (images, 1, 1, 2), "bbox_deltas": (images, 1, 1, 8), "image_info": (images, 2)}
    inputs |= {name: tensor(OperandType.TENSOR_FLOAT32, shape, made[name]) for name, shape in shapes.items()}
    excluded = ["float16", "relaxed"]
    vector = positive(
        "float32_many_results", OPERATION, inputs, outputs, since="1.2", description=BEHIND_4096, excluded=excluded
    )
    return declared(vector)


def _nothing_left() -> Vectors:
    """No side is longer than the least: the first dimension of all outputs is 0."""
    for kind in ("float32", "quant8"):
        yield _positive(f"{kind}_nothing_left", kind, *_data(50), False, _scalars(kind, (-1, -1), 0.5, 100.0))


def _sizes_unknown() -> Vectors:
    given, deltas = _data(_SEED)
    for kind in ("float32", "quant8"):
        inputs, outputs = _operands(kind, given, deltas, False, _scalars(kind, (-1, -1), 0.6, 1.0))
        anchors = numpy.array(_ANCHORS) * (1 if kind == "float32" else 8)
        inputs["anchors"] = constant(
            inputs["anchors"].operand.type, (2, 4), anchors, scale=inputs["anchors"].operand.scale
        )
        inputs |= {
            "scores": values(kind, (0, 2, 0, 2), given, shape=given.shape, **_SCORES),
            "bbox_deltas": values(kind, (2, 0, 3, 0), deltas, zero_point=128, shape=deltas.shape),
            "image_info": boxes(kind, (0, 2), _IMAGES, shape=(2, 2)),
        }
        outputs |= {"rois_out": boxes(kind, ()), "batches_out": whole_numbers(())}
        yield positive(f"{kind}_sizes_unknown", OPERATION, inputs, outputs, since="1.2", hazards=["sizes-found-late"])


def _rejected() -> Vectors:
    given, deltas = numpy.array([0.5, 0.75, 0.75, 0.25]).reshape(2, 1, 2, 1), numpy.zeros((2, 1, 2, 4))
    anchors = [(0.0, 0.0, 8.0, 8.0)]
    sound = {
        kind: _operands(kind, given, deltas, False, _scalars(kind, (-1, -1), 0.5, 1.0), anchors)
        for kind in ("float32", "quant8", "quant8_signed")
    }
    inputs, outputs = sound["quant8"]
    cases: dict[str, tuple[str, str, Operands]] = {
        "rank_3": (RANK_CLAUSE, "float32", {"scores": values("float32", (2, 2, 1), given)}),
        "rank_3_at_execution": ("C1", "float32", {"scores": values("float32", (), given, shape=(2, 2, 1))}),
        "deltas_of_other_batches": ("C2", "float32", {"bbox_deltas": values("float32", (1, 1, 2, 4), deltas[:1])}),
        "deltas_of_other_height": ("C2", "float32", {"bbox_deltas": values("float32", (2, 2, 1, 4), deltas)}),
        "deltas_of_other_anchors": ("C2", "float32", {"bbox_deltas": values("float32", (2, 1, 2, 8), numpy.zeros(32))}),
        "other_anchors": ("C2", "float32", {"anchors": boxes("float32", (2, 4), _ANCHORS)}),
        "anchors_of_5": ("C2", "float32", {"anchors": boxes("float32", (1, 5), numpy.zeros(5))}),
        "one_image": ("C2", "float32", {"image_info": boxes("float32", (1, 2), _IMAGES[:1])}),
        "images_of_3": ("C2", "float32", {"image_info": boxes("float32", (2, 3), numpy.ones(6))}),
        "other_layout": ("C2", "float32", {"nchw_layout": boolean(True)}),
        "anchors_scale": ("C3", "quant8", {"anchors": requantized(inputs["anchors"], 0.25, 0)}),
        "min_size_of_float16": ("MODEL.P3", "float32", {"min_size": number("float16", 1.0)}),
        "boxes_of_5": ("C7", "float32", {"rois_out": boxes("float32", (0, 5))}),
    }
    for key, spec in {"image_info": inputs["image_info"], "rois_out": outputs["rois_out"]}.items():
        cases |= {
            f"{key}_scale": ("C3", "quant8", {key: requantized(spec, 0.25, 0)}),
            f"{key}_zero_point": ("C3", "quant8", {key: requantized(spec, 0.125, 1)}),
        }
    for kind in ("quant8", "quant8_signed"):
        output = sound[kind][1]["scores_out"]
        point = output.operand.zero_point
        cases |= {
            f"{kind}_output_scores_scale": ("C5", kind, {"scores_out": requantized(output, 1 / 64, point)}),
            f"{kind}_output_scores_zero_point": ("C5", kind, {"scores_out": requantized(output, 1 / 128, point + 1)}),
        }
    yield from rejections(OPERATION, sound, cases)
