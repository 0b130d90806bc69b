"""The generator of AXIS_ALIGNED_BBOX_TRANSFORM.

No third party has the operation. By hand, the roi (10, 20, 30, 60), 20 wide and 40 high around (20, 40), and deltas
(1/4, -1/2, 0, 0): the centre moves by (5, -20) to (25, 20) and the size stays, so that the box is (15, 0, 35, 40). With
deltas (0, 1, log 2, 0) it is (0, 60, 40, 100), of which an image 90 high and 32 wide leaves (0, 60, 32, 90).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy

from npu_conformance.corpus.generators._boxes import boxes, indices, rejections, requantized, values
from npu_conformance.corpus.generators._long_axes import BEHIND_255, LONG
from npu_conformance.corpus.generators._no_boxes import NO_BATCHES, NO_ROIS, without_boxes
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import Array, dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "AXIS_ALIGNED_BBOX_TRANSFORM"
_KINDS = ("float32", "float16", "quant8", "quant8_signed")
_IMAGES = [(64.0, 96.0), (40.0, 20.0), (25.5, 40.25)]


def vectors() -> Vectors:
    """Pairwise over all parameters; a case by hand; clipping; sizes left open; rejections."""
    parameters: dict[str, list[Any]] = {
        "kind": list(_KINDS),
        "rois": [1, 2, 5],
        "classes": [1, 2, 4],
        "images": [1, 3],
        "deltas": [0.25, 1.0],
    }
    for seed, row in enumerate(pairwise(parameters)):
        deltas = dyadic(seed, (row["rois"], 4 * row["classes"]), -row["deltas"], row["deltas"], 0.0625)
        name = f"{row['kind']}_{row['rois']}_rois_{row['classes']}_classes_{row['images']}_images"
        name += "_large_deltas" if row["deltas"] == 1.0 else ""
        batches = [(seed + 2 * position) % row["images"] for position in range(row["rois"])]
        yield _positive(name, row["kind"], _rois(seed, row["rois"]), deltas, batches, _IMAGES[: row["images"]])
    yield from _by_hand()
    yield from _clipped()
    yield from _unknown_sizes()
    yield from _no_rois()
    for kind in ("float32", "quant8"):
        turns = [(3 * position) % 7 % 3 for position in range(LONG)]
        deltas = dyadic(77, (LONG, 4), -1.0, 1.0, 0.0625)
        yield _positive(f"{kind}_rois_of_300", kind, _rois(77, LONG), deltas, turns, _IMAGES, BEHIND_255)
    yield from _rejected()


def _rois(seed: int, count: int) -> Array:
    """Boxes of at most 40 pixels, in eighths."""
    corners, sizes = integers(seed + 50, (count, 2), 0, 40 * 8), integers(seed + 60, (count, 2), 1, 40 * 8)
    return numpy.concatenate((corners, corners + sizes), axis=1) / 8


def _operands(
    kind: str, rois: Any, deltas: Any, batches: Sequence[int], images: Sequence[tuple[float, float]]
) -> tuple[Operands, Operands]:
    rows, columns = numpy.shape(deltas)
    inputs = {
        "roi": boxes(kind, (rows, 4), rois),
        "bbox_deltas": values(kind, (rows, columns), deltas, zero_point=128),
        "batch_indices": indices(*batches),
        "image_info": boxes(kind, (len(images), 2), images),
    }
    return inputs, {"output": boxes(kind, (rows, columns))}


def _positive(
    name: str,
    kind: str,
    rois: Any,
    deltas: Any,
    batches: Sequence[int],
    images: Sequence[tuple[float, float]],
    description: str = "",
) -> Vector:
    inputs, outputs = _operands(kind, rois, deltas, batches, images)
    return positive(name, OPERATION, inputs, outputs, since="1.2", hazards=["box-coordinates"], description=description)


def _by_hand() -> Vectors:
    rois, images = [(10.0, 20.0, 30.0, 60.0)], [(90.0, 32.0)]
    for kind in ("float32", "float16"):
        deltas = [[0.25, -0.5, 0.0, 0.0, 0.0, 1.0, math.log(2), 0.0]]
        text = "the boxes are (15, 0, 35, 40) and (0, 60, 40, 100) before an image 90 high and 32 wide cuts them"
        yield _positive(f"{kind}_by_hand", kind, rois, deltas, [0], images, text)
    for kind in ("quant8", "quant8_signed"):
        moved = [[0.25, -0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
        text = "the boxes are (15, 0, 35, 40) and (10, 60, 30, 100) before an image 90 high and 32 wide cuts them"
        yield _positive(f"{kind}_by_hand", kind, rois, moved, [0], images, text)


def _clipped() -> Vectors:
    """Boxes beyond each edge of the image, boxes without width, and sizes without bound."""
    rois = [(5.0, 5.0, 15.0, 25.0)] * 4 + [(8.0, 4.0, 8.0, 12.0), (0.0, 0.0, 20.0, 30.0)]
    deltas = [
        (-3.0, 0.5, 0, 0),
        (3.0, -0.5, 0, 0),
        (0.25, -4.0, 0, 0),
        (0, 4.0, 0, 0),
        (1.0, 0.5, 1.0, 0.25),
        (0, 0, 0, 0),
    ]
    for kind in _KINDS:
        yield _positive(f"{kind}_beside_the_image", kind, rois, deltas, [0] * 6, [(30.0, 20.0)])
    huge = [(0.25, 0.25, 5.0, 6.0), (0.0, 0.0, -9.0, 2.0), (0.5, 0.0, 80.0, 1.0)]
    yield _positive("float32_huge_and_tiny", "float32", rois[:3], huge, [0] * 3, [(30.0, 20.0)])
    text = "sizes grow 90 and 116 times, which some frameworks would cut to 62.5 times, within the image"
    grown = [(1000.0, 1000.0, 1010.0, 1008.0)], [(0.0, 0.0, 4.5, 4.75)]
    yield _positive("float32_grows_without_bound", "float32", *grown, [0], [(4000.0, 4000.0)], text)


def _unknown_sizes() -> Vectors:
    rois, deltas = _rois(70, 3), dyadic(71, (3, 8), -0.5, 0.5, 0.0625)
    for kind in ("float32", "quant8"):
        inputs, outputs = _operands(kind, rois, deltas, [0, 1, 1], _IMAGES[:2])
        inputs["batch_indices"] = indices(0, 1, 1, constant=True)
        yield positive(f"{kind}_constant_batch_indices", OPERATION, inputs, outputs, since="1.2")
        inputs |= {
            "roi": boxes(kind, (0, 4), rois, shape=(3, 4)),
            "bbox_deltas": values(kind, (0, 0), deltas, zero_point=128, shape=(3, 8)),
            "batch_indices": tensor(OperandType.TENSOR_INT32, (0,), [0, 1, 1], shape=(3,)),
            "image_info": boxes(kind, (0, 2), _IMAGES[:2], shape=(2, 2)),
        }
        yield positive(f"{kind}_sizes_unknown", OPERATION, inputs, {"output": boxes(kind, (0, 0))}, since="1.2")


def _no_rois() -> Vectors:
    for kind in _KINDS:
        images = replace(boxes(kind, (2, 2), _IMAGES[:2]), constant=True)
        arguments: dict[str, OperandSpec | str] = {
            "roi": NO_ROIS,
            "bbox_deltas": "deltas",
            "batch_indices": NO_BATCHES,
            "image_info": images,
        }
        sliced = {"deltas": values(kind, (0, 8), zero_point=128)}
        yield without_boxes(OPERATION, kind, arguments, {"output": boxes(kind, (0, 8))}, sliced=sliced)


def _rejected() -> Vectors:
    rois, deltas = _rois(80, 2), dyadic(81, (2, 8), -0.5, 0.5, 0.0625)
    sound = {kind: _operands(kind, rois, deltas, [0, 1], _IMAGES[:2]) for kind in ("float32", "quant8")}
    inputs, outputs = sound["quant8"]
    cases: dict[str, tuple[str, str, Operands]] = {
        "rank_3": (RANK_CLAUSE, "float32", {"roi": boxes("float32", (1, 2, 4), rois)}),
        "rank_3_at_execution": (
            "C1",
            "float32",
            {"roi": boxes("float32", (), rois, shape=(1, 2, 4)), "output": boxes("float32", ())},
        ),
        "rois_of_5": ("C2", "float32", {"roi": boxes("float32", (2, 5), numpy.zeros((2, 5)))}),
        "deltas_of_6": (
            "C2",
            "float32",
            {"bbox_deltas": values("float32", (2, 6), numpy.zeros(12)), "output": boxes("float32", ())},
        ),
        "more_deltas_than_rois": ("C2", "float32", {"bbox_deltas": values("float32", (3, 8), numpy.zeros(24))}),
        "more_batch_indices_than_rois": ("C2", "float32", {"batch_indices": indices(0, 1, 1)}),
        "images_of_3": ("C2", "float32", {"image_info": boxes("float32", (2, 3), numpy.ones(6))}),
        "batch_index_too_large": ("C4", "float32", {"batch_indices": indices(1, 2)}),
        "batch_index_negative": ("C4", "float32", {"batch_indices": indices(-1, 0)}),
        "output_of_other_classes": ("C8", "float32", {"output": boxes("float32", (2, 12))}),
        "output_of_more_rois": ("C8", "float32", {"output": boxes("float32", (3, 8))}),
    }
    for key, spec in {"roi": inputs["roi"], "image_info": inputs["image_info"], "output": outputs["output"]}.items():
        cases |= {
            f"{key}_scale": ("C6", "quant8", {key: requantized(spec, 0.25, 0)}),
            f"{key}_zero_point": ("C6", "quant8", {key: requantized(spec, 0.125, 1)}),
        }
    yield from rejections(OPERATION, sound, cases)
