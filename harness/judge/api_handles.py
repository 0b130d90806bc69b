"""What a refused call leaves in the place for a handle."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from npu_conformance.harness.judge import checks
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, UNTOUCHED, Handle

NULLED = frozenset(
    {
        "execution_start_compute",
        "execution_start_compute_with_dependencies",
        "event_create_from_sync_fence_fd",
        "memory_create_from_desc",
    }
)
"""The functions that set the handle to null wherever they fail and there is a place for it (FW-API-004)."""
NULLED_IN_BAD_STATE = frozenset({"compilation_create", "execution_create", "burst_create"})
"""Those that do so where an object is in the wrong state; what they leave behind a null pointer is their affair."""

_WORDS = {NULL: "null", UNTOUCHED: "what was there: nothing was written"}


def judge_handle(function: str, code: int, arguments: Mapping[str, Any], answer: Any) -> None:
    """A refused call makes no object: the handle is null, or untouched where the API does not promise null."""
    if not isinstance(answer, Handle) or code == ResultCode.NO_ERROR:
        return
    out, _ = describe(Runtime)[function].parameters[-1]
    must = function in NULLED or (function in NULLED_IN_BAD_STATE and code == ResultCode.BAD_STATE)
    allowed = (NULL,) if must and arguments[out] else (NULL, UNTOUCHED)
    with checks.about("FW-API-004"):
        _left(answer.handle, allowed, f"handle that {function} leaves after a failure")


def judge_nulled(function: str, handle: int) -> None:
    """A call that has failed leaves null where the API promises it (FW-API-004)."""
    _left(handle, (NULL,), f"handle that {function} leaves after a failure")


def _left(handle: int, allowed: Collection[int], what: str) -> None:
    if handle not in allowed:
        expected = " or ".join(_WORDS[one] for one in allowed)
        checks.fail(what, expected, _WORDS.get(handle, str(handle)))
