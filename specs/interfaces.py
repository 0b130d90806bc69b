"""How an interface is declared: a Protocol whose methods raise Unsupported by default, each with its versions.

Proxies and dispatchers on the wire are made from these declarations (`describe`), never written by hand.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.naming import camel_case
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

Function = TypeVar("Function", bound=Callable[..., Any])

NOT_IMPLEMENTED = "is not implemented"
"""How the refusal of a method that an implementation does not have ends."""


class Interface(Protocol):
    """Base of all interfaces. An implementation overrides what it has; the rest raises Unsupported."""


class MethodMark(msgspec.Struct, frozen=True):
    """What `method` records: the versions that have the method, and whether the caller waits for an answer."""

    since: Version = OLDEST
    until: Version = NEWEST
    oneway: bool = False
    statuses: str = ""


class Method(msgspec.Struct, frozen=True):
    """One method of an interface, as the wire needs it: names in both spellings, parameter and result types."""

    name: str
    wire_name: str
    parameters: tuple[tuple[str, Any], ...]
    result: Any
    mark: MethodMark


def method(
    *, since: Version = OLDEST, until: Version = NEWEST, oneway: bool = False, statuses: str = ""
) -> Callable[[Function], Function]:
    """Mark a method of an interface.

    since, until: the first and the last version that has it. oneway: the caller does not wait. statuses: the
    documented ErrorStatus letters (N none, U unavailable, G general failure, O output size, A invalid argument,
    M missed deadline, R resource exhausted), NNHAL-ERROR-006; empty where errors are not statuses.
    """

    def mark(function: Function) -> Function:
        function.__interface_method__ = MethodMark(since, until, oneway, statuses)  # type: ignore[attr-defined]
        return function

    return mark


def refuse(method_name: str) -> Unsupported:
    """The error of a method that an implementation does not have."""
    return Unsupported(f"{method_name} {NOT_IMPLEMENTED}")


@functools.cache
def describe(interface: type) -> dict[str, Method]:
    """Return the methods of an interface by Python name, in order of declaration, base interfaces first."""
    found: dict[str, Method] = {}
    for base in reversed(interface.__mro__):
        for name, function in vars(base).items():
            mark = getattr(function, "__interface_method__", None)
            if mark is not None:
                found[name] = _describe_method(name, function, mark)
    return found


def is_interface(kind: object) -> bool:
    """True for a class that declares or implements an interface."""
    return isinstance(kind, type) and Interface in kind.__mro__ and kind is not Interface


def _describe_method(name: str, function: Callable[..., Any], mark: MethodMark) -> Method:
    hints = typing.get_type_hints(function, include_extras=True)
    names = [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]
    parameters = tuple((parameter, hints[parameter]) for parameter in names)
    return Method(name, camel_case(name), parameters, hints["return"], mark)
