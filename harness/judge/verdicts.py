"""What a case can end as, and what is thrown to end it so. A closed set."""

from __future__ import annotations

from npu_conformance.specs.outcomes import Disposition, Outcome

__all__ = [
    "WIRE",
    "CaseEnded",
    "Crashed",
    "Declined",
    "Disposition",
    "Failed",
    "Hung",
    "NoRoom",
    "NoSharedMemory",
    "NotApplicable",
    "NotSupported",
    "Outcome",
    "Refused",
    "breach",
]


class CaseEnded(Exception):
    """Base of what a case raises to end itself, or the configuration it is in, with an outcome.

    about: the requirements that the check is about; empty where no check has said so (`checks.about`).
    """

    outcome: Outcome
    about: tuple[str, ...] = ()


class Failed(CaseEnded):
    """The implementation broke a requirement. expected, found: as text, for failure files; empty where unknown."""

    outcome = Outcome.FAIL

    def __init__(self, message: str, expected: str = "", found: str = "") -> None:
        self.expected = expected
        self.found = found
        super().__init__(message)


class Refused(Failed):
    """A call was rejected with an error of the wire itself, such as wrong params.

    code: JSON-RPC's. traceback: where the implementation raised an exception, if it says so.
    """

    def __init__(self, message: str, code: int, traceback: str = "") -> None:
        self.code = code
        self.traceback = traceback
        super().__init__(message)


WIRE = "NNHAL-WIRE-001"
"""The requirement that a message breaks which is none of the wire protocol."""


def breach(problem: str) -> Failed:
    """The verdict on a message that breaks the wire protocol, which is none on what the case is about."""
    failure = Failed(problem)
    failure.about = (WIRE,)
    return failure


class Declined(CaseEnded):
    """Base of what ends a case without a verdict on its rule.

    warning: how the implementation could have said so better, which makes a quality warning; empty where it could not.
    """

    def __init__(self, message: str, warning: str = "") -> None:
        self.warning = warning
        super().__init__(message)


class NotSupported(Declined):
    """The implementation says, in a way it is allowed to, that it does not support this."""

    outcome = Outcome.NOT_SUPPORTED


class NoRoom(NotSupported):
    """There was no room for a model: a want of resources, which says nothing about what is supported."""


class NotApplicable(Declined):
    """The rule does not apply: version, optional feature, transport."""

    outcome = Outcome.NOT_APPLICABLE


class Crashed(CaseEnded):
    """The host process died.

    signal: its number, 0 where it exited. stderr: its last words. traceback: its stack, where it could write it.
    cause: what it said of its death, such as a sanitizer's finding, in which function; empty where it said nothing.
    """

    outcome = Outcome.CRASH

    def __init__(self, message: str, signal: int = 0, stderr: str = "", traceback: str = "", cause: str = "") -> None:
        self.signal = signal
        self.cause = cause
        self.stderr = stderr
        self.traceback = traceback
        super().__init__(message)


class Hung(CaseEnded):
    """A call did not answer within its deadline; a host of ours was killed. traceback: its stacks until then."""

    outcome = Outcome.HANG

    def __init__(self, message: str, stderr: str = "", traceback: str = "") -> None:
        self.stderr = stderr
        self.traceback = traceback
        super().__init__(message)


class NoSharedMemory(CaseEnded):
    """The machine has no memory to share with the implementation: nobody's fault, and no verdict on anything."""

    outcome = Outcome.SUITE_ERROR
