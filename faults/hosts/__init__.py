"""Host processes that misbehave: their faults break the process or the wire, and cross no interface."""

from __future__ import annotations

from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Fault, Hostile

_WRONG = "vts.messages.Device_getSupportedOperations.wrong_types"
_QUERY = "vts.queries.type.legal"


def _fault(behaviour: str, description: str, caught_by: str = _QUERY, breaks: str = "NNHAL-ROBUST-003") -> Fault:
    return fault(behaviour, description, breaks, caught_by, Hostile(behaviour), family="host")


def _broken_message(behaviour: str, description: str) -> Fault:
    return _fault(behaviour, description, breaks="NNHAL-WIRE-001")


FAULTS = (
    _fault("segfaults", "The process dies of a segmentation fault in a call."),
    _fault("exits", "The process ends with exit code 0 in a call."),
    _fault("dies-quietly", "The process ends behind the handshake.", "vts.queries.version_string.not_empty"),
    _fault("hangs", "A call never returns."),
    _broken_message("half-a-line", "Half an answer comes, and then nothing."),
    _broken_message("garbage", "The answer is no message."),
    _broken_message("wrong-type", "The answer is a text where a number belongs."),
    _broken_message("wrong-id", "The answer belongs to no question."),
    _broken_message("huge-line", "The answer is a line of 100 MB."),
    _fault("dies-of-malformed-message", "The process ends over a call with a field of the wrong type.", _WRONG),
    _fault("hangs-on-malformed-message", "A call with a field of the wrong type is never answered.", _WRONG),
    _fault("hangs-up-on-malformed-message", "The connection ends over a field of the wrong type.", _WRONG),
    _fault("internal-error-for-malformed-message", "A field of the wrong type ends in a failure of the host.", _WRONG),
    _fault(
        "wrong-params-for-unknown-field",
        "A message with a field that nobody knows is refused.",
        "vts.messages.Device_getSupportedOperations.unknown_fields",
    ),
    _fault("status-99-for-malformed-message", "A field of the wrong type ends in a status that is none.", _WRONG),
)
"""Faults of whole processes."""
