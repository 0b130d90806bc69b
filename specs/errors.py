"""Errors that cross an interface. In Python they are exceptions; on the wire, JSON-RPC errors of the same names."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.enums import ErrorStatus


class InterfaceError(Exception):
    """Base of everything that a call to an implementation may raise on purpose.

    about: the requirements that break where the error arrives; empty on the wire, a check of a suite may say so.
    method: the call that ended with it, as the wire names it; empty where no wire is between.
    """

    about: tuple[str, ...] = ()
    method: str = ""


class ServiceError(InterfaceError):
    """The call failed with an ErrorStatus (NNHAL-ERROR-001). `status` stays open: a driver may answer 99."""

    def __init__(self, status: int, message: str = "") -> None:
        self.status = int(status)
        self.message = message
        super().__init__(f"{status_name(self.status)}: {message}" if message else status_name(self.status))


class IllegalArgument(InterfaceError):
    """EX_ILLEGAL_ARGUMENT of the npu interfaces (NPU-HAL-004)."""


class IllegalState(InterfaceError):
    """EX_ILLEGAL_STATE of the npu interfaces."""


class SecurityDenied(InterfaceError):
    """EX_SECURITY: the caller's uid lacks the permission (NPU-ACC-004)."""


class DeadObject(InterfaceError):
    """The process behind the object is gone (NNHAL-ROBUST-006)."""


class LostObject(DeadObject):
    """The object was dead before it was called: it went with the process of an earlier crash or hang."""


class Unsupported(InterfaceError):
    """The implementation does not have this method: a base class raises it for a method that was not overridden."""


class NotVisible(Unsupported):
    """An adapter cannot show this: what is behind it takes and tells less than the interface. No verdict about it."""


def status_name(status: int) -> str:
    """Return the name of an ErrorStatus value, or the bare number for one that no version defines."""
    try:
        return ErrorStatus(status).name
    except ValueError:
        return f"status {status}"
