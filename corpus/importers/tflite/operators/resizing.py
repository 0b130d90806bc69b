"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

from npu_conformance.corpus.importers.tflite.step import Step


def resize_bilinear(step: Step) -> None:
    """RESIZE_BILINEAR."""
    step.apply("RESIZE_BILINEAR", [step.name(0), *_size(step), *_alignment(step, [])])


def resize_nearest_neighbor(step: Step) -> None:
    """RESIZE_NEAREST_NEIGHBOR, which always says its layout."""
    step.apply("RESIZE_NEAREST_NEIGHBOR", [step.name(0), *_size(step), *_alignment(step, [step.boolean(False)])])


def _size(step: Step) -> list[str]:
    """Width and height; LiteRT has the height first."""
    return [step.int32(size) for size in reversed(step.integers(1))]


def _alignment(step: Step, without: list[str]) -> list[str]:
    """Layout, alignment of corners and of centres, which HAL 1.3 brought; `without` where nothing is aligned."""
    flags = [step.operator.option(name) for name in ("AlignCorners", "HalfPixelCenters")]
    return [step.boolean(False), *map(step.boolean, flags)] if any(flags) else without
