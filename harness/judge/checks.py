"""Assertions of the suites: each raises Failed with `<what>: expected ..., found ...`."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec.structs import asdict

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung
from npu_conformance.specs.errors import DeadObject, InterfaceError, NotVisible, ServiceError, Unsupported, status_name
from npu_conformance.specs.interfaces import is_interface

Result = TypeVar("Result")
_LONGEST = 300
_MOST_COUNTED = 10_000
"""Characters up to which a message says how long a value is."""
_BYTES_SHOWN = 24


class about(ContextDecorator):  # noqa: N801  reads as a statement: `with about(...)`
    """Says which requirements break where something fails inside, the one that the check is about first.

    Also a decorator, for a helper whose checks are all about the same. The innermost word counts; where there is none,
    that of `CaseContext.about`, and without that the first requirement of the case.
    """

    def __init__(self, *requirements: str) -> None:
        self._requirements = requirements

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, frames: object) -> None:
        """Write the requirements into what has failed, where nothing inside has said more."""
        if isinstance(error, CaseEnded | InterfaceError):
            error.about = error.about or self._requirements


@contextmanager
def reworded(reword: Callable[[str], str]) -> Iterator[None]:
    """Inside, a failure, crash or hang says what `reword` makes of its message: where it happened, what it is about."""
    try:
        yield
    except (Failed, Crashed, Hung) as failure:
        failure.args = (reword(str(failure)),)
        raise


@contextmanager
def telling(words: Callable[[], str]) -> Iterator[None]:
    """Inside, a verdict on whatever fails ends with these words, unless it says them: which of many models it was.

    Unlike with `reworded` that is so for every exception, of an interface or a plug-in in this process, too.
    """
    try:
        yield
    except Exception as error:
        note = words()
        if note and note not in str(error):
            error.add_note(note)
        raise


def fail(what: str, expected: str, found: str) -> NoReturn:
    """Raise Failed in the uniform wording."""
    raise Failed(f"{what}: expected {expected}, found {found}", expected, found)


def that(condition: bool, message: str) -> None:
    """Fail with the message unless the condition holds."""
    if not condition:
        raise Failed(message)


def equal(actual: object, expected: object, what: str) -> None:
    """Fail unless both are equal."""
    if actual == expected:
        return
    if isinstance(actual, bytes) and isinstance(expected, bytes) and max(len(actual), len(expected)) > _BYTES_SHOWN:
        unlike = (place for place, (one, other) in enumerate(zip(actual, expected, strict=False)) if one != other)
        place = next(unlike, min(len(actual), len(expected)))
        fail(what, _part_of(expected, place), _part_of(actual, place))
    fail(what, format_value(expected), format_value(_named_as(expected, actual)))


def _part_of(content: bytes, place: int) -> str:
    """The bytes from the first one on that is wrong."""
    part = content[place : place + _BYTES_SHOWN]
    return f"{part.hex(' ') or 'nothing'} from byte {place} of {len(content)}"


def _named_as(expected: object, actual: object) -> object:
    """What was found, with the names of the numbers that are expected as members of an enumeration."""
    if isinstance(expected, enum.Enum) and type(actual) is int:
        return next((member for member in type(expected) if member.value == actual), actual)
    if isinstance(expected, list | tuple) and type(actual) is type(expected) in (list, tuple):
        named = [_named_as(one, other) for one, other in zip(expected, actual, strict=False)]
        return type(actual)([*named, *actual[len(named) :]])
    if isinstance(expected, msgspec.Struct) and type(actual) is type(expected):
        wanted, found = asdict(expected), asdict(actual)
        return type(actual)(**{name: _named_as(wanted[name], found[name]) for name in found})
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {key: _named_as(expected.get(key), value) for key, value in actual.items()}
    return actual


def single(found: Collection[Result], what: str) -> Result:
    """The one element of a collection; fails where there is none, or more than one."""
    equal(len(found), 1, f"number of {what}")
    return next(iter(found))


def member(actual: object, allowed: Collection[Any], what: str) -> None:
    """Fail unless the value is one of the allowed ones."""
    if actual not in allowed:
        spelled = sorted(format_value(value) for value in allowed)
        fail(what, spelled[0] if len(spelled) == 1 else "one of " + ", ".join(spelled), format_value(actual))


def status(actual: int | None, allowed: Collection[int], what: str) -> None:
    """Fail unless an ErrorStatus is one of the allowed ones; None means that no status arrived at all."""
    if actual not in allowed:
        fail(what, format_statuses(allowed), "no status" if actual is None else status_name(actual))


def succeeds(call: Callable[[], Result], what: str) -> Result:
    """Return the call's result; fail where the interface refuses. A dead subject and what is not visible stay so."""
    try:
        return call()
    except (DeadObject, NotVisible):
        raise
    except InterfaceError as error:
        fail(what, "success", format_error(error))


def works(call: Callable[[], Result], what: str) -> Result:
    """As `succeeds`, of a driver: a method that it does not have is not-supported, so that bring-up begins without red.

    The summary names it (harness.run.missing_methods), and the run is not conformant.
    """

    def answered() -> Result | Unsupported:
        try:
            return call()
        except Unsupported as lacking:
            return lacking

    result = succeeds(answered, what)
    if isinstance(result, Unsupported):
        raise result
    return result


def raises_status(call: Callable[[], object], statuses: Collection[int], what: str) -> int:
    """Fail unless the call raises ServiceError with one of the statuses; return the status."""
    try:
        result = call()
    except ServiceError as error:
        status(error.status, statuses, what)
        return error.status
    fail(what, format_statuses(statuses), f"success with {format_value(result)}")


def raises(
    call: Callable[[], object], kinds: type[InterfaceError] | tuple[type[InterfaceError], ...], what: str
) -> None:
    """Fail unless the call raises one of these errors of specs.errors."""
    expected = kinds if isinstance(kinds, tuple) else (kinds,)
    try:
        result = call()
    except expected:
        return
    except (DeadObject, NotVisible):
        raise
    except InterfaceError as error:
        fail(what, " or ".join(kind.__name__ for kind in expected), format_error(error))
    fail(what, " or ".join(kind.__name__ for kind in expected), f"success with {format_value(result)}")


def format_value(value: object) -> str:
    """Return a value as messages show it, truncated where it is long."""
    text = ""
    for piece in _spelled(value):
        text += piece
        if len(text) > _MOST_COUNTED:
            return f"{text[:_LONGEST]}... (more than {_MOST_COUNTED:,} characters)"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _spelled(value: object) -> Iterator[str]:
    """A value in pieces: an answer may have millions of elements, and only the first ones are shown."""
    if isinstance(value, enum.Enum):
        yield f"{value.name} ({value.value})"
    elif type(value) is list:
        yield from _listed("[", map(_spelled, value), "]")
    elif type(value) is tuple:
        yield from _listed("(", map(_spelled, value), ",)" if len(value) == 1 else ")")
    elif type(value) is dict:
        yield from _listed("{", (_named(_spelled(key), ": ", one) for key, one in value.items()), "}")
    elif isinstance(value, msgspec.Struct) and type(value).__repr__ is msgspec.Struct.__repr__:
        yield from _record(value)
    elif isinstance(value, str | bytes):
        yield repr(value[: _MOST_COUNTED + 1])
    else:
        yield _object(value) or repr(value)


def _listed(begin: str, elements: Iterable[Iterator[str]], end: str) -> Iterator[str]:
    yield begin
    for index, element in enumerate(elements):
        if index:
            yield ", "
        yield from element
    yield end


def _named(name: Iterable[str], between: str, value: object) -> Iterator[str]:
    yield from name
    yield between
    yield from _spelled(value)


def _record(value: msgspec.Struct) -> Iterator[str]:
    """A record with its fields; one that is private has no name that a reader knows."""
    name = type(value).__name__
    fields = (_named([field], "=", one) for field, one in asdict(value).items())
    yield from _listed(f"{'' if name.startswith('_') else name}(", fields, ")")


def _object(value: object) -> str:
    """An object of an interface by the name of that; empty for any other value."""
    declared = [kind for kind in type(value).__mro__ if is_interface(kind)][-1:]
    return f"an object of {declared[0].__name__}" if declared else ""


def format_statuses(statuses: Collection[int]) -> str:
    """Return the names of statuses, in order of their numbers."""
    return " or ".join(status_name(number) for number in sorted(statuses))


def format_error(error: InterfaceError) -> str:
    """Return an error of an interface as text, with its class."""
    return f"{type(error).__name__} {error}".rstrip()
