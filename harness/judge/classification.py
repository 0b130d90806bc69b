"""Decides how a part of a run ended: the one place that says what an exception means as a verdict."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge.origin import is_of_plugin
from npu_conformance.harness.judge.outcome_table import WAIVABLE
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Declined, Failed, Hung, Refused
from npu_conformance.specs.diagnostics import last_words, stacks
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.errors import DeadObject, InterfaceError, LostObject, NotVisible, Unsupported
from npu_conformance.specs.outcomes import Outcome

_FRAMES = 8
_STDERR_CHARACTERS = 4000
LONGEST = 8000
"""Characters of a message, or of what was expected or found, that a report keeps."""


class SubjectLost(Exception):
    """The subject could not be restarted: no further case can run."""


class OutcomeDetails(msgspec.Struct, frozen=True):
    """An outcome with everything known about why. about: the requirements that the check said it is about.

    says_dead: the subject, which lives, has answered that what it needs is dead: it is in its callback, or behind it.
    warning: the quality warning that comes with it; empty for none.
    """

    outcome: Outcome = Outcome.PASS
    message: str = ""
    expected: str = ""
    found: str = ""
    signal: int = 0
    stderr: str = ""
    traceback: str = ""
    about: tuple[str, ...] = ()
    says_dead: bool = False
    warning: str = ""

    @property
    def lost_host(self) -> bool:
        """True where the subject has to be restarted before it can be used again."""
        return self.outcome in (Outcome.CRASH, Outcome.HANG) or self.says_dead


def classify_exception(error: Exception, *, behind_restart: bool = False) -> OutcomeDetails:
    """Say what an exception that ended a case, or a configuration, means.

    behind_restart: the subject was restarted since the case began. What needs an object from before is not run.

    A CaseEnded says so itself. An error of the interface that no check expected is a failure of the implementation; a
    method it does not have is not-supported, what an adapter cannot show not-applicable, a dead object a crash, or what
    it followed from; where the subject itself has answered so, it lives, and has failed. Any other exception is a
    failure where the plug-in raised it, in the suite's own process; else a bug of the suite. The words of an
    implementation are those of a stranger: what a terminal would obey is escaped, and no more than LONGEST characters
    of each text are kept.
    """
    details = _presentable(_with_notes(_classified(error, behind_restart=behind_restart), error))
    _let_go(error)
    return details


def _let_go(error: BaseException) -> None:
    """Keep nothing alive that the exception has passed: a device may have no room beside a model of the case before."""
    for passed in _with_earlier(error, lambda one: one.__cause__ or one.__context__):
        traceback.clear_frames(passed.__traceback__)


def _with_earlier(
    error: BaseException, earlier: Callable[[BaseException], BaseException | None]
) -> Iterator[BaseException]:
    """An error and those before it, each once: those of a plug-in may stand behind each other in a circle."""
    seen: set[int] = set()
    before: BaseException | None = error
    while before is not None and id(before) not in seen:
        seen.add(id(before))
        yield before
        before = earlier(before)


def _presentable(details: OutcomeDetails) -> OutcomeDetails:
    message, expected, found = map(shortened, (details.message, details.expected, details.found))
    return replace(details, message=message, expected=expected, found=found)


def shortened(text: str) -> str:
    """The beginning of a text, printable, with a note of how much is missing."""
    shown = stacks.printable(text[:LONGEST])
    return shown if len(text) <= LONGEST else f"{shown}... ({len(text) - LONGEST:,} characters more)"


def _with_notes(details: OutcomeDetails, error: Exception) -> OutcomeDetails:
    """Add what `checks.telling` has noted, to the first line of what went wrong."""
    notes = getattr(error, "__notes__", [])
    if not notes or details.outcome not in WAIVABLE:
        return details
    first, *others = details.message.split("\n")
    return replace(details, message="\n".join(["; ".join([first, *notes]), *others]))


def _classified(error: Exception, *, behind_restart: bool) -> OutcomeDetails:
    if behind_restart and isinstance(error, LostObject):
        return OutcomeDetails(Outcome.NOT_RUN, f"what it needs was lost in an earlier configuration: {error}")
    error = _what_came_first(error)
    if isinstance(error, CaseEnded):
        return replace(_of_case_ended(error), about=error.about)
    if isinstance(error, InterfaceError):
        return replace(_of_interface_error(error), about=error.about)
    if isinstance(error, DocumentError):
        # A vector that cannot be read is nobody's bug: the line says where and what, frames would not.
        return OutcomeDetails(Outcome.SUITE_ERROR, str(error))
    if is_of_plugin(error):
        return _of_plugin(error)
    return OutcomeDetails(Outcome.SUITE_ERROR, _format_error(error), traceback=_tail(error))


def _what_came_first(error: Exception) -> Exception:
    """The crash or hang behind which something else, a `finally` for one, found the subject or its objects dead."""
    if not isinstance(error, DeadObject | Crashed):
        return error
    found = [one for one in _with_earlier(error, lambda one: one.__context__) if isinstance(one, Crashed | Hung)]
    return found[-1] if found else error


def _of_interface_error(error: InterfaceError) -> OutcomeDetails:
    if isinstance(error, NotVisible):
        return OutcomeDetails(Outcome.NOT_APPLICABLE, str(error))
    if isinstance(error, Unsupported):
        return OutcomeDetails(Outcome.NOT_SUPPORTED, str(error))
    if isinstance(error, DeadObject) and error.method:
        found = _format_error(error)
        return OutcomeDetails(Outcome.FAIL, f"{error.method} answered {found}", "no error", found, says_dead=True)
    if isinstance(error, DeadObject):
        return OutcomeDetails(Outcome.CRASH, f"the process behind an object is gone: {error}")
    call = f"the call {error.method}" if error.method else "a call"
    return OutcomeDetails(Outcome.FAIL, f"{call} failed: {_format_error(error)}", "no error", _format_error(error))


def _of_plugin(error: Exception) -> OutcomeDetails:
    told = stacks.of_exception(error)
    words = f": {error}" if str(error) else ""
    message = f"the plug-in raised {type(error).__name__} at {stacks.place(told)}{words}"
    return OutcomeDetails(Outcome.FAIL, message, traceback=told)


def _of_case_ended(error: CaseEnded) -> OutcomeDetails:
    if isinstance(error, Crashed):
        words, told = last_words.kept(error.stderr, _STDERR_CHARACTERS), error.traceback
        return OutcomeDetails(error.outcome, str(error), signal=error.signal, stderr=words, traceback=told)
    if isinstance(error, Hung):
        told = error.traceback
        return OutcomeDetails(error.outcome, str(error), stderr=error.stderr[-_STDERR_CHARACTERS:], traceback=told)
    if isinstance(error, Refused):
        return OutcomeDetails(error.outcome, str(error), error.expected, error.found, traceback=error.traceback)
    if isinstance(error, Failed):
        return OutcomeDetails(error.outcome, str(error), error.expected, error.found)
    if isinstance(error, Declined):
        return OutcomeDetails(error.outcome, str(error), warning=error.warning)
    return OutcomeDetails(error.outcome, str(error))


def _format_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _tail(error: Exception) -> str:
    return "".join(traceback.format_exception(error, limit=-_FRAMES))
