"""The generator of ROI_ALIGN.

No third party has the operation. By hand: see `_by_hand`.
"""

from dataclasses import replace

import numpy
from msgspec import structs

from npu_conformance.corpus.generators._boxes import rejections, values
from npu_conformance.corpus.generators._no_boxes import NO_BATCHES, NO_ROIS, without_boxes
from npu_conformance.corpus.generators._regions import (
    Regions,
    cover,
    many_regions,
    many_results,
    operands,
    rejected_regions,
    shared_extras,
)
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import OperandSpec, int32

OPERATION = "ROI_ALIGN"
_SAMPLINGS = {"": (0, 0), "samples_1x3": (1, 3), "samples_2x0": (2, 0)}
_OUTPUTS = [{}, {"scale": 0.05, "zero_point": 120}, {"scale": 0.125, "zero_point": 60}]


def vectors() -> Vectors:
    """Pairwise over all parameters; interpolation by hand; saturation; sizes left open; rejections."""
    yield from cover(OPERATION, _SAMPLINGS, _OUTPUTS)
    yield from shared_extras(OPERATION, (2, 2))
    yield many_results(OPERATION, (1, 1))
    yield from many_regions(OPERATION, (1, 1))
    yield from _by_hand()
    yield from _saturating()
    yield from _shared()
    yield from _no_rois()
    yield from rejected_regions(OPERATION, (0, 0), {"boxes": "C8", "outputs": "C10"})
    yield from _rejected_samplings()


def _by_hand() -> Vectors:
    """f(y, x) = 4y + x is linear, so that interpolation gives it exactly wherever no sample is clamped."""
    regions = Regions((1, 3, 4, 1), [(0.5, 0.5, 2.5, 1.5), (1, 1, 1.5, 1.25), (2, 2, 4, 3)], [0, 0, 0])
    data = numpy.array([4 * y + x for y in range(3) for x in range(4)]).reshape(1, 3, 4, 1)
    for kind in ("float32", "float16", "quant8", "quant8_signed"):
        inputs, outputs = operands(kind, regions, (1, 2), (1.0, 1.0), False, data, (1, 1), {"scale": 0.0625})
        if kind.startswith("quant8"):
            inputs, outputs = operands(
                kind, regions, (1, 2), (1.0, 1.0), False, data * 0.25, (1, 1), {"scale": 0.03125, "zero_point": 40}
            )
        scaled = " (a quarter of that where quantised)" if kind.startswith("quant8") else ""
        yield positive(
            f"{kind}_of_a_linear_map",
            OPERATION,
            inputs,
            outputs,
            since="1.2",
            description="the map is 4y + x; samples of roi 0 at y 1, x 1 and 2: 5, 6; roi 1 is widened to one element: "
            f"y 1.5, x 1.25 and 1.75: 7.25, 7.75; roi 2: y 2.5 and x 3.5 are clamped to 2 and 3: 10.5, 11{scaled}",
        )


def _no_rois() -> Vectors:
    kinds = {"float32": False, "float16": True, "quant8": True, "quant8_signed": False}
    for kind, nchw in kinds.items():
        regions = Regions((1, 2, 3, 2), [(0, 0, 1, 1)], [0])
        inputs, _ = operands(kind, regions, (4, 5), (2.0, 2.0), nchw, numpy.ones(12), (0, 1))
        image = replace(inputs["input"], constant=True)
        arguments: dict[str, OperandSpec | str] = {
            **inputs,
            "input": image,
            "rois": NO_ROIS,
            "batch_indices": NO_BATCHES,
        }
        output = values(kind, (0, 2, 4, 5) if nchw else (0, 4, 5, 2))
        vector = without_boxes(OPERATION, kind, arguments, {"output": output})
        yield structs.replace(vector, name=f"{vector.name}_{'nchw' if nchw else 'nhwc'}")


def _saturating() -> Vectors:
    """Results beyond both limits of the output's type."""
    regions = Regions((1, 2, 3, 2), [(0, 0, 3, 2), (0.5, 0.25, 1.5, 1.25)], [0, 0])
    data = dyadic(80, regions.size, -4.0, 4.0, 0.5)
    for kind in ("quant8", "quant8_signed"):
        inputs, outputs = operands(
            kind, regions, (2, 2), (1.0, 1.0), False, data, (1, 1), {"scale": 0.01, "zero_point": 128}
        )
        yield positive(f"{kind}_saturates", OPERATION, inputs, outputs, since="1.2")


def _shared() -> Vectors:
    regions = Regions((1, 2, 3, 2), [(0, 0, 3, 2), (0.5, 0.25, 1.5, 1.25)], [0, 0])
    data = dyadic(80, regions.size, -2.0, 2.0, 0.125)
    both = operands("quant8", regions, (2, 2), (1.0, 1.0), False, data, (1, 1))
    yield from shared_quantization(OPERATION, *both, (0.05, 0.03), (100, 120))


def _rejected_samplings() -> Vectors:
    regions = Regions((1, 3, 4, 1), [(0, 0, 2, 2)], [0])
    data = dyadic(81, regions.size)
    sound = {"float32": operands("float32", regions, (1, 2), (1.0, 1.0), False, data, (1, 1))}
    yield from rejections(
        OPERATION,
        sound,
        {f"{name}_negative": ("C5", "float32", {name: int32(-1)}) for name in ("sampling_h", "sampling_w")},
    )
