"""What the generators of ROI_ALIGN and ROI_POOLING share.

Regions are written in elements of the feature map and multiplied by the ratios; all are eighths of a pixel and all
steps of cells exact, so that no device rounds an edge of a cell to another side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from npu_conformance.corpus.generators._boxes import Numbers, boxes, indices, number, rejections, requantized, values
from npu_conformance.corpus.generators._long_axes import BEHIND_255, LONG
from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, boolean, int32, scalar, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

Pair = tuple[int, int]
"""Height first, then width."""


@dataclass(frozen=True)
class Regions:
    """A feature map and its rois. size: batches, height, width, channels. spans: x1, y1, x2, y2 in elements."""

    size: tuple[int, int, int, int]
    spans: Sequence[tuple[float, float, float, float]]
    batches: Sequence[int]


MAPS = {
    "wide": Regions((2, 4, 6, 2), [(0, 0, 6, 4), (0.75, 1.25, 3.25, 2.75), (6, 4, 6, 4), (2, 1, 2, 1)], [1, 0, 1, 0]),
    "tall": Regions((3, 7, 3, 1), [(1, 2.25, 2.75, 5), (0, 0, 3, 7), (0, 6.75, 0.25, 7)], [2, 0, 1]),
    "dot": Regions((2, 1, 1, 3), [(0, 0, 1, 1), (0.25, 0.25, 0.75, 0.25)], [1, 0]),
}
RATIOS = {"": (1.0, 1.0), "ratios_4x2": (4.0, 2.0), "ratios_half_x8": (0.5, 8.0)}
"""Of the height, of the width."""


def operands(
    kind: str,
    regions: Regions,
    out: Pair,
    ratios: tuple[float, float],
    nchw: bool,
    data: Numbers | None,
    sampling: Pair | None = None,
    output: Mapping[str, Any] | None = None,
) -> tuple[Operands, Operands]:
    """Inputs and outputs. sampling: the counts of ROI_ALIGN. output: its quantisation, where not the input's."""
    batches, height, width, channels = regions.size
    pixels = numpy.array(regions.spans) * [ratios[1], ratios[0], ratios[1], ratios[0]]
    rows, columns = out
    shape = (batches, channels, height, width) if nchw else regions.size
    inputs = {
        "input": values(kind, shape, data),
        "rois": boxes(kind, (len(pixels), 4), pixels),
        "batch_indices": indices(*regions.batches),
        "out_height": int32(rows),
        "out_width": int32(columns),
        "height_ratio": number(kind, ratios[0]),
        "width_ratio": number(kind, ratios[1]),
    }
    if sampling:
        inputs |= {"sampling_h": int32(sampling[0]), "sampling_w": int32(sampling[1])}
    cells = (channels, rows, columns) if nchw else (rows, columns, channels)
    return inputs | {"nchw_layout": boolean(nchw)}, {"output": values(kind, (len(pixels), *cells), **(output or {}))}


def cover(operation: str, samplings: Mapping[str, Pair | None], outputs: Sequence[Mapping[str, Any]]) -> Vectors:
    """Pairwise: type, map, cells, ratios, layout, and sample counts by name. outputs: quantisations to go through."""
    parameters: dict[str, list[Any]] = {
        "kind": ["float32", "float16", "quant8", "quant8_signed"],
        "map": list(MAPS),
        "out": [(2, 2), (1, 4), (3, 2)],
        "ratios": list(RATIOS),
        "layout": ["nhwc", "nchw"],
        "sampling": list(samplings),
    }
    for seed, row in enumerate(pairwise(parameters)):
        regions, out = MAPS[row["map"]], row["out"]
        data = dyadic(seed, regions.size, -3.0, 3.0, 0.25)
        nchw = row["layout"] == "nchw"
        inputs, results = operands(
            row["kind"], regions, out, RATIOS[row["ratios"]], nchw, data.transpose(0, 3, 1, 2) if nchw else data,
            samplings[row["sampling"]], outputs[seed % len(outputs)],
        )  # fmt: skip
        words = [row["kind"], row["map"], f"to_{out[0]}x{out[1]}", row["ratios"], row["layout"], row["sampling"]]
        name = "_".join(word for word in words if word)
        yield positive(
            name, operation, inputs, results, since="1.2", hazards=["box-coordinates"] if row["ratios"] else []
        )


def shared_extras(operation: str, sampling: Pair | None) -> Vectors:
    """Sizes left open, constant batch indices, a realistic region, data with infinities beside the region."""
    regions = MAPS["wide"]
    for kind in ("float32", "quant8"):
        data = dyadic(50, regions.size, -3.0, 3.0, 0.25)
        inputs, outputs = operands(kind, regions, (2, 2), (1.0, 1.0), False, data, sampling)
        rois = inputs["rois"]
        inputs["rois"] = boxes(kind, (0, 4), regions.spans, shape=rois.shape)
        inputs["batch_indices"] = tensor(OperandType.TENSOR_INT32, (0,), regions.batches, shape=(4,))
        outputs["output"] = values(kind, (0, 2, 2, 2))
        yield positive(f"{kind}_number_of_rois_unknown", operation, inputs, outputs, since="1.2")
        inputs |= {"rois": rois, "batch_indices": indices(*regions.batches, constant=True)}
        outputs["output"] = values(kind, (4, 2, 2, 2))
        yield positive(f"{kind}_constant_batch_indices", operation, inputs, outputs, since="1.2")
    yield _realistic(operation, sampling)
    yield _infinities_elsewhere(operation, sampling)


def many_regions(operation: str, sampling: Pair | None) -> Vectors:
    """Regions of one cell and of few elements; their batches in no order."""
    corners, sizes = integers(77, (LONG, 2), 0, 3), integers(78, (LONG, 2), 1, 2)
    spans = numpy.concatenate((corners, corners + sizes), axis=1)
    regions = Regions((2, 5, 5, 1), spans.tolist(), [(3 * position) % 7 % 2 for position in range(LONG)])
    for kind in ("float32", "quant8"):
        data = dyadic(79, regions.size, -3.0, 3.0, 0.25)
        inputs, outputs = operands(kind, regions, (1, 1), (1.0, 1.0), False, data, sampling)
        yield positive(f"{kind}_rois_of_300", operation, inputs, outputs, since="1.2", description=BEHIND_255)


def _realistic(operation: str, sampling: Pair | None) -> Vector:
    """A map of stride 16; edges of the 7 x 7 cells are whole elements, after the rounding of ROI_POOLING too."""
    size = (1, 12, 16, 1)
    spans = [(1.25, 0.75, 15.25, 6.75)] if sampling is None else [(1.25, 0.5, 15.25, 11.0)]
    inputs, outputs = operands(
        "float32", Regions(size, spans, [0]), (7, 7), (16.0, 16.0), False, dyadic(60, size, -4.0, 4.0, 0.5), sampling
    )
    return positive("float32_stride_16_to_7x7", operation, inputs, outputs, since="1.2", hazards=["box-coordinates"])


def _infinities_elsewhere(operation: str, sampling: Pair | None) -> Vector:
    data = dyadic(61, (1, 4, 6, 2), step=0.5)
    data[0, :, 4:], data[0, 3] = numpy.inf, -numpy.inf
    regions = Regions((1, 4, 6, 2), [(0, 0, 2, 1.25), (0.75, 0.25, 1.75, 0.75)], [0, 0])
    inputs, outputs = operands("float32", regions, (2, 2), (1.0, 1.0), False, data, sampling)
    return positive(
        "float32_infinities_outside_of_the_regions",
        operation,
        inputs,
        outputs,
        since="1.2",
        description="elements that no cell touches do not count",
    )


def many_results(operation: str, sampling: Pair | None) -> Vector:
    """65 maps of 8 x 8, each element of which is a cell, or a corner of one."""
    last = 7.0 if sampling is None else 8.0
    regions = Regions((1, 8, 8, 65), [(0.0, 0.0, last, last)], [0])
    data = GeneratorDocument(kind="dyadic", seed=60, low=-4.0, high=4.0, step=0.25)
    inputs, outputs = operands("float32", regions, (8, 8), (1.0, 1.0), False, None, sampling)
    inputs["input"] = tensor(OperandType.TENSOR_FLOAT32, regions.size, data)
    return positive("float32_many_results", operation, inputs, outputs, since="1.2", description=BEHIND_4096)


def rejected_regions(operation: str, sampling: Pair | None, clauses: Mapping[str, str]) -> Vectors:
    """What every device must reject. clauses: numbers of the clauses whose numbers differ, by what they are about."""
    regions = Regions((2, 2, 3, 2), [(0, 0, 3, 2), (1, 0.5, 2.5, 1), (0, 1, 1, 2), (1, 1, 2, 2)], [0, 1, 1, 0])
    data = dyadic(70, regions.size, -2.0, 2.0, 0.5)
    sound = {kind: operands(kind, regions, (2, 2), (2.0, 2.0), False, data, sampling) for kind in ("float32", "quant8")}
    cases: dict[str, tuple[str, str, Operands]] = {
        "input_rank_3": (RANK_CLAUSE, "float32", {"input": values("float32", (4, 3, 2), data)}),
        "input_rank_3_at_execution": (
            "C1",
            "float32",
            {"input": values("float32", (), data, shape=(4, 3, 2)), "output": values("float32", ())},
        ),
        "rois_of_5": ("C2", "float32", {"rois": boxes("float32", (4, 5), numpy.zeros((4, 5)))}),
        "rois_of_5_quant8": ("C2", "quant8", {"rois": boxes("quant8", (4, 5), numpy.zeros((4, 5)))}),
        "fewer_batch_indices_than_rois": ("C2", "float32", {"batch_indices": indices(0, 1, 0)}),
        "batch_index_too_large": ("C3", "float32", {"batch_indices": indices(0, 1, 2, 0)}),
        "batch_index_negative": ("C3", "float32", {"batch_indices": indices(0, -1, 1, 0)}),
        "constant_batch_index_too_large": ("C3", "float32", {"batch_indices": indices(0, 1, 1, 2, constant=True)}),
        "ratios_float16": ("MODEL.P3", "float32", {name: scalar(OperandType.FLOAT16, 2.0) for name in _RATIO_NAMES}),
        "rois_scale": (clauses["boxes"], "quant8", {"rois": requantized(sound["quant8"][0]["rois"], 0.25, 0)}),
        "rois_zero_point": (clauses["boxes"], "quant8", {"rois": requantized(sound["quant8"][0]["rois"], 0.125, 1)}),
        "output_of_other_cells": (clauses["outputs"], "float32", {"output": values("float32", (4, 3, 2, 2))}),
        "output_of_other_channels": (clauses["outputs"], "float32", {"output": values("float32", (4, 2, 2, 3))}),
        "output_of_fewer_rois": (clauses["outputs"], "float32", {"output": values("float32", (3, 2, 2, 2))}),
    }
    for name in ("out_height", "out_width"):
        cases |= {f"{name}_{word}": ("C4", "float32", {name: int32(size)}) for word, size in _NOT_POSITIVE.items()}
    for name in _RATIO_NAMES:
        cases |= {
            f"{name}_{word}": ("C4", "float32", {name: number("float32", size)}) for word, size in _NOT_POSITIVE.items()
        }
    yield from rejections(operation, sound, cases)


_RATIO_NAMES = ("height_ratio", "width_ratio")
_NOT_POSITIVE = {"0": 0, "negative": -2}
