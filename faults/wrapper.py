"""The wrapper of the faults and of the guard: it forwards an interface by the interface's declaration.

A wrapper stands between the harness and an object of the reference. Each method that its class does not define goes
to `inner`; the objects that go along or come back pass through `given` and `taken`.
"""

from __future__ import annotations

import functools
import typing
import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from npu_conformance.specs.interfaces import Method, describe, is_interface

Kind = TypeVar("Kind", bound=type)
Change = Callable[[type, Any], Any]
"""A function that changes an object of an interface."""


class Wrapper:
    """Stands for `inner`. `forwarding` fills its subclasses, which override what they do otherwise."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of `inner`."""
        return getattr(self.inner, name)(*arguments)

    def given(self, interface: type, value: Any) -> Any:
        """An object of the caller's as `inner` gets it."""
        return value

    def taken(self, interface: type, value: Any) -> Any:
        """An object of `inner`'s as the caller gets it."""
        return value


class Relay(Wrapper):
    """An object that has passed a boundary: its calls go to the boundary's methods of their names, itself in front.

    boundary: held weakly, since the reference's objects hold callbacks; without one the calls go to `inner`.
    """

    def __init__(self, inner: Any, boundary: weakref.ref[Any]) -> None:
        super().__init__(inner)
        self.boundary = boundary

    def call(self, name: str, *arguments: Any) -> Any:
        """Let the boundary make the call."""
        boundary = self.boundary()
        return super().call(name, *arguments) if boundary is None else getattr(boundary, name)(self, *arguments)


def forwarding(interface: type) -> Callable[[Kind], Kind]:
    """Fill a class of wrappers: each method of the interface that it does not define is forwarded."""

    def fill(wrapper: Kind) -> Kind:
        for name, method in describe(interface).items():
            if name not in vars(wrapper):
                setattr(wrapper, name, _forward(method))
        return wrapper

    return fill


def _forward(method: Method) -> Callable[..., Any]:
    hints = [hint for _, hint in method.parameters]

    def forward(self: Any, *arguments: Any) -> Any:
        given = [_replaced(hint, value, self.given) for hint, value in zip(hints, arguments, strict=False)]
        return _replaced(method.result, self.call(method.name, *given), self.taken)

    forward.__name__ = method.name
    return forward


def _replaced(hint: Any, value: Any, change: Change) -> Any:
    """The value with changed objects: it may be an object, a tuple of them, or a struct that has some."""
    interface = _interface_in(hint)
    if interface is None:
        struct: Any = type(value)
        changed = {name: _replaced(kind, getattr(value, name), change) for name, kind in _objects_of(struct).items()}
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        return tuple(None if one is None else change(interface, one) for one in value)
    return None if value is None else change(interface, value)


@functools.cache
def _interface_in(hint: Any) -> type | None:
    """The interface that a type hint names, by itself, beside None or in a tuple."""
    if is_interface(hint):
        return typing.cast(type, hint)
    return next(filter(None, map(_interface_in, typing.get_args(hint))), None)


@functools.cache
def _objects_of(kind: Any) -> Mapping[str, Any]:
    """The fields of a struct that hold objects."""
    hints = typing.get_type_hints(kind) if issubclass(kind, msgspec.Struct) else {}
    return {name: hint for name, hint in hints.items() if _interface_in(hint) is not None}
