"""The arithmetic of conversions: values to real numbers and back, as float32 arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy

from npu_conformance.corpus.importers.aosp.types import Type

Array: TypeAlias = "numpy.ndarray[Any, numpy.dtype[Any]]"

_LIMITS = {
    "TENSOR_QUANT8_ASYMM": (0, 255),
    "TENSOR_QUANT8_ASYMM_SIGNED": (-128, 127),
    "TENSOR_QUANT16_ASYMM": (0, 65535),
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": (-127, 127),
    "UINT32": (0, None),
}


def dequantize(values: Array, kind: Type) -> Array:
    """Real numbers of stored ones: less the zero point, times the scale, times the scales of channels; in float32."""
    real = values.astype(numpy.float32) - numpy.float32(kind.zeroPoint)
    if kind.scale:
        real = real * numpy.float32(kind.scale)
    if kind.extraParams is not None:
        real = (real * kind.extraParams.GetScalesBroadcastArray(kind.dimensions)).astype(numpy.float32)
    return real


def quantize(real: Array, kind: Type) -> Array:
    """Stored numbers of real ones: by the scales, plus the zero point, half to even for integers, into the range."""
    stored = real
    if kind.scale:
        stored = stored / numpy.float32(kind.scale)
    if kind.extraParams is not None:
        stored = stored / kind.extraParams.GetScalesBroadcastArray(kind.dimensions)
    stored = stored + numpy.float32(kind.zeroPoint)
    if not kind.IsFloat():
        stored = numpy.round(stored)
    return numpy.clip(stored, *_LIMITS[kind.type]) if kind.type in _LIMITS else stored
