"""Conforming devices that use many freedoms at once, as every real one does."""

from __future__ import annotations

import functools
from pathlib import Path

from npu_conformance.faults import source_edits
from npu_conformance.faults.choosy_devices import Choice, choosy, float16, images, quantised, two_thirds
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version


@functools.cache
def _by_edits() -> dict[str, tuple[SourceEdit, ...]]:
    return {row.id: row.edits for row in source_edits.read(Path(__file__).parent / "variants.json")}


def _variant(name: str, description: str, choice: Choice, freedoms: str, version: Version = NEWEST) -> Variant:
    """freedoms: ids of variants by source edits, one beside the other."""

    def create(context: Context, version: Version) -> Subject:
        for freedom in freedoms.split():
            source_edits.apply(_by_edits()[freedom])
        return Subject(device=choosy(choice)(ReferenceDevice(context, version)))

    return Variant(name, description, FaultySubject(create), version)


def _quantised_images(main: types.Subgraph, operation: types.Operation) -> bool:
    return images(main, operation) and quantised(main, operation)


VARIANTS = (
    _variant(
        "like-a-camera-npu",
        "Quantised images alone, in fixed point, with buffers for outputs and nothing kept in bursts.",
        _quantised_images,
        "fixed-point rounds-half-to-even buffers-for-outputs tokens-scattered burst-without-token-cache refuses-late "
        "support-fails-for-memory late-before-invalid android-marks-the-first-that-lacks",
    ),
    _variant(
        "like-a-gpu",
        "float16 alone, without subnormals, with sums in another order, and one burst at a time.",
        float16,
        "sums-reversed flushes-subnormals float32-inside buffers-of-one-role tokens-recycled burst-one-at-a-time "
        "burst-misses-deadlines copies-look-at-the-size-first takes-any-token first-come-first-served",
    ),
    _variant(
        "like-a-dsp",
        "Two of three operations, truncated, which looks at values late and keeps to the text.",
        two_thirds(1),
        "rounds-to-zero sums-in-chunks float64-inside buffers-of-known-shape buffers-forget-when-refused "
        "keeps-the-text no-room-for-the-huge burst-trusts-tokens copies-of-pixels",
    ),
    _variant(
        "like-an-old-dsp",
        "The same at HAL 1.3, whose bursts ask for memory each time and tell neither times nor shapes.",
        two_thirds(2),
        "rounds-to-zero sums-in-chunks buffers-checked-late burst-without-slot-cache burst-asks-one-by-one "
        "burst-malformed-is-invalid burst-without-times-and-shapes burst-one-at-a-time-hidl android-maps-extensions "
        "android-scalars-with-dimensions android-takes-activations",
        Version.V1_3,
    ),
)
