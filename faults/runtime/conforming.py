"""NNAPI runtimes that differ and conform: other failing codes, unchecked handles, older feature levels, no control."""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.choosy_devices import choosy
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.faults.runtime.boundary import DATA, FAILED, NULL, STATE, result_of, with_result
from npu_conformance.faults.runtime.hooks import FaultyRuntime
from npu_conformance.faults.runtime.subject import edited_runtime
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import PerChannelDescription
from npu_conformance.specs.versions import NEWEST, Version

_OTHER: dict[int, int] = {NULL: DATA, DATA: STATE, STATE: FAILED}
"""What a runtime may return instead, that does not promise AOSP's codes."""


class OtherCodes(FaultyRuntime):
    """A runtime that fails where AOSP's does, with other codes."""

    def call(self, name: str, *arguments: Any) -> Any:
        """Make a call, and change the code of a refusal."""
        answer = super().call(name, *arguments)
        code = _OTHER.get(result_of(answer)) if isinstance(answer, int) or hasattr(answer, "result") else None
        return answer if code is None else with_result(answer, code)


class RefusesEarly(FaultyRuntime):
    """A runtime that refuses a negative preference at once, where AOSP's waits for the end of the compilation."""

    def call(self, name: str, *arguments: Any) -> Any:
        """Make a call, unless it brings a negative preference."""
        if name == "compilation_set_preference" and arguments[1] < 0:
            return DATA
        return super().call(name, *arguments)


class FenceCodeOfTheHeader(FaultyRuntime):
    """A runtime of level 4 that says of an event without a fence what the header does; AOSP's says OP_FAILED."""

    def call(self, name: str, *arguments: Any) -> Any:
        """Make a call, and change the code where there is no fence."""
        answer = super().call(name, *arguments)
        is_without = name == "event_get_sync_fence_fd" and answer.result == FAILED
        return with_result(answer, DATA) if is_without else answer


class NullScalesAreNull(FaultyRuntime):
    """A runtime that says of null scales in a description what it says of null arguments; AOSP's says BAD_DATA."""

    def call(self, name: str, *arguments: Any) -> Any:
        """Make a call, and change the code where it is refused with null scales."""
        answer = super().call(name, *arguments)
        described = arguments[2] if name == "model_set_operand_symm_per_channel_quant_params" else None
        has_none = isinstance(described, PerChannelDescription) and described.scales is None
        return NULL if has_none and answer == DATA else answer


def _of_level(level: Version) -> FaultySubject:
    return edited_runtime((), level)


VARIANTS = (
    Variant(
        "runtime-other-codes",
        "A runtime that promises no exact codes fails with others.",
        edited_runtime((), NEWEST, OtherCodes, exact_result_codes=False, checks_handles=False),
    ),
    Variant(
        "runtime-unchecked-handles",
        "A runtime that does not promise to check handles.",
        edited_runtime((), NEWEST, checks_handles=False),
    ),
    Variant(
        "runtime-single-threaded",
        "A runtime that takes one call after the other.",
        edited_runtime((), concurrent_calls=1),
    ),
    Variant(
        "runtime-refuses-negative-preference",
        "A runtime that refuses a negative preference when it is set (FW-CMP-005: at the latest when finished).",
        edited_runtime((), NEWEST, RefusesEarly),
    ),
    Variant(
        "runtime-fence-code-of-the-header",
        "A runtime of feature level 4 that returns BAD_DATA for an event without a fence, as the header has it.",
        edited_runtime((), Version.V1_3, FenceCodeOfTheHeader),
        Version.V1_3,
    ),
    Variant(
        "runtime-null-scales-are-null",
        "A runtime that returns UNEXPECTED_NULL for null scales, a field of an argument.",
        edited_runtime((), NEWEST, NullScalesAreNull),
    ),
    Variant(
        "runtime-driver-without-additions",
        "A runtime over a driver that does not support ADD, which is its CPU's.",
        edited_runtime((), driver=choosy(lambda main, operation: operation.type != OperationType.ADD)),
    ),
    *(
        Variant(f"runtime-level-{level}", f"A runtime of feature level {level}.", _of_level(level), level)
        for level in Version
    ),
)
"""Each passes every case that applies to it."""
