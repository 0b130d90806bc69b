"""What a case can end as, and what is thrown to end it so. A closed set."""

from __future__ import annotations

from npu_conformance.specs.outcomes import Disposition, Outcome

__all__ = [
    "CaseEnded",
    "Crashed",
    "Disposition",
    "Failed",
    "Hung",
    "NotApplicable",
    "NotSupported",
    "Outcome",
    "Refused",
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
    """A call was rejected with an error of the wire itself, such as wrong params. code: JSON-RPC's."""

    def __init__(self, message: str, code: int) -> None:
        self.code = code
        super().__init__(message)


class NotSupported(CaseEnded):
    """The implementation says, in a way it is allowed to, that it does not support this."""

    outcome = Outcome.NOT_SUPPORTED


class NotApplicable(CaseEnded):
    """The rule does not apply: version, optional feature, transport."""

    outcome = Outcome.NOT_APPLICABLE


class Crashed(CaseEnded):
    """The host process died. `signal` is its number, 0 where it exited; `stderr` its last words."""

    outcome = Outcome.CRASH

    def __init__(self, message: str, signal: int = 0, stderr: str = "") -> None:
        self.signal = signal
        self.stderr = stderr
        super().__init__(message)


class Hung(CaseEnded):
    """A call did not answer within its deadline; the host process was killed."""

    outcome = Outcome.HANG

    def __init__(self, message: str, stderr: str = "") -> None:
        self.stderr = stderr
        super().__init__(message)
