"""RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

from npu_conformance.adapters.lowering.operands import check_size
from npu_conformance.adapters.lowering.resizing import ALIGN_CORNERS, HALF_PIXEL_CENTERS, HEIGHT, LAYOUT, WIDTH, size_of
from npu_conformance.adapters.lowering.window import TO_NCHW, TO_NHWC
from npu_conformance.adapters.onnx_lowering.context import Step


def resize_bilinear(step: Step) -> None:
    """RESIZE_BILINEAR."""
    _resize(step, "linear", "floor")


def resize_nearest_neighbor(step: Step) -> None:
    """RESIZE_NEAREST_NEIGHBOR; rounded but for the corners that neither align nor are half a pixel away."""
    is_rounded = step.scalar(ALIGN_CORNERS, 0) or step.scalar(HALF_PIXEL_CENTERS, 0)
    _resize(step, "nearest", "round_prefer_ceil" if is_rounded else "floor")


def _resize(step: Step, mode: str, nearest: str) -> None:
    is_nchw = bool(step.scalar(LAYOUT, 0))
    source = step.real(0) if is_nchw else step.transposed(step.real(0), TO_NCHW)
    batch, channels, height, width = (step.dimensions(0)[axis] for axis in ((0, 1, 2, 3) if is_nchw else TO_NCHW))
    sizes = [batch, channels, size_of(step, HEIGHT, height), size_of(step, WIDTH, width)]
    check_size(sizes)
    origin = "half_pixel" if step.scalar(HALF_PIXEL_CENTERS, 0) else "asymmetric"
    place = "align_corners" if step.scalar(ALIGN_CORNERS, 0) else origin
    result = step.emit(
        "Resize",
        source,
        "",
        "",
        step.integers(sizes),
        mode=mode,
        nearest_mode=nearest,
        coordinate_transformation_mode=place,
    )
    step.store(result if is_nchw else step.transposed(result, TO_NHWC))
