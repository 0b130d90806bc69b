"""Drivers that lose a little accuracy: the class stays the same mostly, and the numbers beside it are worse."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Fault, FaultySubject
from npu_conformance.faults.model_engines import Engine, Inputs, around
from npu_conformance.faults.source_edits import DetectedAs
from npu_conformance.reference.device.executor import Executor, Limits
from npu_conformance.reference.device.tensors import Array

Change = Callable[[Array], Array]
"""Of one tensor, to what is left of it."""


def _lossy(weights: Change | None = None, inputs: Change | None = None, outputs: Change | None = None) -> FaultySubject:
    """The reference whose weights, inputs or outputs are changed: those that are no single numbers."""

    def changed(arrays: Inputs, change: Change | None) -> list[Array | None]:
        return [one if one is None or one.size < 2 or change is None else change(one) for one in arrays]

    class Lossy(Engine):
        def made(self) -> None:
            if weights is not None and isinstance(self.inner, Executor):
                kept = self.inner._graphs[0]._constants  # where the reference keeps them
                kept.update({index: weights(array) for index, array in kept.items() if array.size > 1})

        def answered(self, given: Inputs, limits: Limits) -> list[Array]:
            found = self.inner.run(changed(given, inputs), limits)
            return [array for array in changed(found, outputs) if array is not None]

    return around(Lossy)


def _of_floats(change: Change) -> Change:
    """Arrays of other types stay as they are."""
    return lambda array: change(array) if array.dtype == numpy.float32 else array


@_of_floats
def _bfloat16(array: Array) -> Array:
    """The 16 upper bits, as of a copy of half the bytes."""
    return (numpy.ascontiguousarray(array).view(numpy.uint32) & numpy.uint32(0xFFFF0000)).view(numpy.float32)


@_of_floats
def _eight_bits(array: Array) -> Array:
    """One of 256 steps between the least and the largest element."""
    low, high = float(array.min()), float(array.max())
    step = (high - low) / 255 or 1.0
    return (numpy.round((array - low) / step) * step + low).astype(numpy.float32)


@_of_floats
def _six_bits(array: Array) -> Array:
    """One of 64 steps of the largest element."""
    step = float(numpy.abs(array).max()) / 31 or 1.0
    return (numpy.round(array / step) * step).astype(numpy.float32)


@_of_floats
def _pruned(array: Array) -> Array:
    """The smallest tenth is zero."""
    return numpy.where(numpy.abs(array) < numpy.quantile(numpy.abs(array), 0.1), 0.0, array).astype(numpy.float32)


def _of_codes(change: Change) -> Change:
    """Arrays of other types than 8 bits stay as they are."""
    return lambda array: change(array) if array.dtype.itemsize == 1 and array.dtype.kind in "iu" else array


@_of_codes
def _without_two_bits(array: Array) -> Array:
    kept: Array = (array & array.dtype.type(-4 if array.dtype.kind == "i" else 0xFC)).astype(array.dtype)
    return kept


def _too_high(steps: int) -> Change:
    """So many steps more, up to the end of the range."""

    @_of_codes
    def change(array: Array) -> Array:
        most = numpy.iinfo(array.dtype).max
        higher: Array = numpy.minimum(array.astype(numpy.int64) + steps, most).astype(array.dtype)
        return higher

    return change


def _fault(name: str, description: str, models: str, mechanism: FaultySubject, detected_as: DetectedAs) -> Fault:
    caught = " ".join(f"mlts.accuracy.{model}.answers" for model in models.split())
    return fault(name, description, "ML-ACC-008", caught, mechanism, detected_as=detected_as, family="loses")


_FLOATS = "digits_conv digits_separable denoiser_lstm phones_lstm"

FAULTS = (
    _fault("bfloat16-weights", "Weights of float32 lose the lower half of their bits.", _FLOATS,
           _lossy(weights=_bfloat16), "quality-warning"),
    _fault("bfloat16-outputs", "Results of float32 lose the lower half of their bits.",
           "digits_separable denoiser_lstm phones_lstm", _lossy(outputs=_bfloat16), "quality-warning"),
    _fault("inputs-in-8-bits", "Inputs of float32 are brought to 8 bits.", "digits_separable denoiser_lstm phones_lstm",
           _lossy(inputs=_eight_bits), "quality-warning"),
    _fault("weights-in-8-bits", "Weights of float32 are brought to 8 bits, with one scale for all channels.",
           "digits_conv digits_separable denoiser_lstm", _lossy(weights=_eight_bits), "quality-warning"),
    _fault("weights-in-6-bits", "Weights of float32 are brought to 6 bits.", "digits_conv denoiser_lstm",
           _lossy(weights=_six_bits), "quality-warning"),
    _fault("weights-pruned", "The smallest tenth of the weights is zero.",
           "digits_conv digits_separable denoiser_lstm", _lossy(weights=_pruned), "quality-warning"),
    _fault("codes-of-weights-in-6-bits", "The two lowest bits of 8-bit weights are lost.", "digits_conv_int8",
           _lossy(weights=_without_two_bits), "red"),
    _fault("codes-too-high", "Results of 8 bits are three steps too high.", "digits_conv_int8 digits_conv_uint8",
           _lossy(outputs=_too_high(3)), "quality-warning"),
    _fault("codes-one-too-high", "Results of 8 bits are one step too high.", "digits_conv_int8 digits_separable_uint8",
           _lossy(outputs=_too_high(1)), "quality-warning"),
)  # fmt: skip
"""Faults of accuracy that no class shows."""
