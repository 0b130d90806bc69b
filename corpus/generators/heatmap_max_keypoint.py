"""The generator of HEATMAP_MAX_KEYPOINT. The largest element of each map is the largest by much: ties are free.

No third party has the operation. By hand, for the window of rows (p - 1/4, p - 1/4, p - 2), (p - 1/4, p, p - 3/4) and
(p - 2, p - 3/4, p - 1/4): A = (-1, 7/8; 7/8, -1), b = (1/4, 1/4), det A = 15/64. The step A^-1 b = (-2, -2) is cut to
(-3/2, -3/2); the score is p + 3/4 - 9/32 = p + 15/32. A map of 4 x 4 with that window around row 2, column 2, in the
box (2, 1, 10, 5): x = (2 - 3/2 + 1/2) / 4 * 8 + 2 = 4, y = 1/4 * 4 + 1 = 2.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from npu_conformance.corpus.generators._boxes import boxes, rejections, requantized, values
from npu_conformance.corpus.generators._long_axes import BEHIND_255, LONG
from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import Array, dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, boolean, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "HEATMAP_MAX_KEYPOINT"
_KINDS = ("float32", "float16", "quant8", "quant8_signed")
_BOXES = [(2.0, 1.0, 10.0, 5.0), (0.0, 3.0, 0.0, 20.0), (7.5, 0.25, 8.125, 30.0)]
_SCORES: list[dict[str, Any]] = [{}, {"scale": 0.05, "zero_point": 30}, {"scale": 0.04, "zero_point": 140}]
"""Quantisations of the scores, which are free; the last one lets the largest scores saturate."""

_PEAK = 4.0


def vectors() -> Vectors:
    """Pairwise over all parameters; steps cut and left out; every place of the maximum; a realistic map; rejections."""
    parameters: dict[str, list[Any]] = {
        "kind": list(_KINDS),
        "side": [2, 3, 5],
        "keypoints": [1, 3],
        "layout": ["nhwc", "nchw"],
        "count": [1, 3],
    }
    for seed, row in enumerate(pairwise(parameters)):
        data = _peaks(seed, row["count"], row["side"], row["keypoints"])
        name = f"{row['kind']}_{row['count']}x{row['keypoints']}_maps_of_{row['side']}_{row['layout']}"
        yield _positive(name, row["kind"], data, row["layout"] == "nchw", _SCORES[seed % 3])
    yield from _everywhere()
    yield from _limited_steps()
    yield _unknown_sizes()
    yield _realistic()
    yield _many_results()
    for kind in ("float32", "quant8"):
        yield _positive(f"{kind}_boxes_of_300", kind, _peaks(77, LONG, 2, 1), False, _SCORES[0], BEHIND_255)
        yield _positive(f"{kind}_keypoints_of_300", kind, _peaks(78, 1, 2, LONG), False, _SCORES[0], BEHIND_255)
    yield from _rejected()


def _peaks(seed: int, count: int, side: int, keypoints: int) -> Array:
    """Maps [count, side, side, keypoints] of small numbers, each with one larger element, of its own size."""
    data = dyadic(seed, (count, side, side, keypoints), -2.0, 2.0, 0.25)
    places = integers(seed + 100, (count, keypoints, 2), 0, side - 1)
    for image, keypoint in numpy.ndindex(count, keypoints):
        row, column = places[image, keypoint]
        data[image, row, column, keypoint] = 3 + (image + keypoint) % 8 / 2
    return data


def _operands(kind: str, data: Array, nchw: bool, scores: Mapping[str, Any]) -> tuple[Operands, Operands]:
    count, keypoints = data.shape[0], data.shape[3]
    elements = data.transpose(0, 3, 1, 2) if nchw else data
    inputs = {
        "heatmap": values(kind, elements.shape, elements),
        "boxes": boxes(kind, (count, 4), numpy.resize(_BOXES, (count, 4))),
        "nchw_layout": boolean(nchw),
    }
    return inputs, {
        "scores": values(kind, (count, keypoints), **scores),
        "keypoints": boxes(kind, (count, keypoints, 2)),
    }


def _positive(
    name: str,
    kind: str,
    data: Array,
    nchw: bool = False,
    scores: Mapping[str, Any] | None = None,
    description: str = "",
) -> Vector:
    inputs, outputs = _operands(kind, data, nchw, scores or {})
    return positive(name, OPERATION, inputs, outputs, since="1.2", description=description)


def _everywhere() -> Vectors:
    """A maximum at each place of a map of 3 x 3: all borders are mirrored."""
    for kind in ("float32", "quant8"):
        data = dyadic(40, (1, 3, 3, 9), -2.0, 2.0, 0.25)
        for keypoint in range(9):
            data[0, keypoint // 3, keypoint % 3, keypoint] = _PEAK
        yield _positive(f"{kind}_maximum_at_each_place", kind, data)


def _limited_steps() -> Vectors:
    """Steps cut along both axes or one; a matrix without inverse; curvature of either sign along the diagonals."""
    cut = [[-0.25, -0.25, -2], [-0.25, 0, -0.75], [-2, -0.75, -0.25]]
    lopsided = [[-0.25, -0.25, -2], [-0.375, 0, -0.625], [-2, -0.75, -0.25]]
    singular = [[-0.25, -0.25, -2.25], [-0.25, 0, -0.75], [-2.25, -0.75, -0.25]]
    windows = numpy.array([cut, lopsided, singular, [row[::-1] for row in cut], lopsided[::-1]]) + _PEAK
    data = numpy.full((1, 4, 4, 5), -1.0)
    data[0, 1:, 1:] = windows.transpose(1, 2, 0)
    for kind in _KINDS:
        yield _positive(
            f"{kind}_steps_cut_and_left_out",
            kind,
            data,
            description="keypoint 0: the step (-2, -2) is cut to (-3/2, -3/2), score 4 + 15/32, place (4, 2); "
            "keypoint 2: the matrix has no inverse, so that the score is 4 and the place the middle of the element",
            scores={"scale": 0.03125, "zero_point": 10},
        )


def _unknown_sizes() -> Vector:
    data = _peaks(50, 2, 3, 2)
    inputs, outputs = _operands("float32", data, False, {})
    inputs["heatmap"] = values("float32", (0, 3, 3, 0), data, shape=data.shape)
    inputs["boxes"] = boxes("float32", (0, 4), _BOXES[:2], shape=(2, 4))
    outputs = {"scores": values("float32", (0, 0)), "keypoints": boxes("float32", (0, 0, 2))}
    return positive("float32_sizes_unknown", OPERATION, inputs, outputs, since="1.2")


def _realistic() -> Vector:
    """Of this seed the largest element of each map is larger than the next by 1/50, more than float16 rounds away."""
    data = GeneratorDocument(kind="uniform", seed=_REALISTIC_SEED, low=-4.0, high=4.0)
    inputs, outputs = _operands("float32", numpy.zeros((1, 28, 28, 3)), False, {})
    inputs["heatmap"] = tensor(OperandType.TENSOR_FLOAT32, (1, 28, 28, 3), data)
    return positive("float32_maps_of_28", OPERATION, inputs, outputs, since="1.2")


_REALISTIC_SEED = 67


def _many_results() -> Vector:
    """Maps of 2 x 2: what is mirrored on either side of the largest element is equal, so that it does not move."""
    count, keypoints = 33, 65
    inputs, outputs = _operands("float32", numpy.zeros((count, 2, 2, keypoints)), False, {})
    data = GeneratorDocument(kind="uniform", seed=68, low=-4.0, high=4.0)
    inputs["heatmap"] = tensor(OperandType.TENSOR_FLOAT32, (count, 2, 2, keypoints), data)
    excluded = ["float16", "relaxed"]
    return positive(
        "float32_many_results", OPERATION, inputs, outputs, since="1.2", description=BEHIND_4096, excluded=excluded
    )


def _rejected() -> Vectors:
    data = _peaks(60, 2, 3, 2)
    sound = {kind: _operands(kind, data, False, {}) for kind in ("float32", "quant8")}
    flat = data.reshape(2, 9, 2)

    def other(shape: Sequence[int]) -> Operands:
        elements = numpy.arange(numpy.prod(shape)) * 0.25
        return {
            "heatmap": values("float32", shape, elements),
            "scores": values("float32", (2, shape[-1])),
            "keypoints": boxes("float32", (2, shape[-1], 2)),
        }

    open_outputs = {"scores": values("float32", ()), "keypoints": boxes("float32", ())}
    wrong_boxes = {
        f"boxes_{word}": ("C5", "quant8", {"boxes": requantized(sound["quant8"][0]["boxes"], *quantization)})
        for word, quantization in _WRONG.items()
    }
    wrong_keypoints = {
        f"keypoints_{word}": (
            "C5",
            "quant8",
            {"keypoints": requantized(sound["quant8"][1]["keypoints"], *quantization)},
        )
        for word, quantization in _WRONG.items()
    }
    cases: dict[str, tuple[str, str, Operands]] = {
        "rank_3": (RANK_CLAUSE, "float32", {"heatmap": values("float32", flat.shape, flat)}),
        "rank_3_at_execution": (
            "C1",
            "float32",
            {"heatmap": values("float32", (), flat, shape=flat.shape), **open_outputs},
        ),
        "boxes_of_5": ("C2", "float32", {"boxes": boxes("float32", (2, 5), numpy.zeros((2, 5)))}),
        "fewer_boxes_than_maps": ("C2", "float32", {"boxes": boxes("float32", (1, 4), _BOXES[:1]), **open_outputs}),
        "wide_map": ("C3", "float32", other((2, 2, 3, 2))),
        "tall_map": ("C3", "float32", other((2, 3, 2, 2))),
        "map_of_one_element": ("C3", "float32", other((2, 1, 1, 2))),
        **wrong_boxes,
        **wrong_keypoints,
        "scores_transposed": ("C7", "float32", {"scores": values("float32", (2, 3))}),
        "keypoints_of_3": ("C7", "float32", {"keypoints": boxes("float32", (2, 2, 3))}),
        "keypoints_of_fewer_boxes": ("C7", "float32", {"keypoints": boxes("float32", (1, 2, 2))}),
    }
    yield from rejections(OPERATION, sound, cases)


_WRONG = {"scale": (0.25, 0), "zero_point": (0.125, 1)}
