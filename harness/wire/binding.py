"""What the wire needs of each interface method, made from the declarations: param structs, names, decoders."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from npu_conformance import specs
from npu_conformance.specs import interfaces
from npu_conformance.specs.wire_types import Float, HasFloat, Wire

MethodCall = tuple[str, tuple[Any, ...]]
"""The name of a method and its arguments."""
_MOST_NAMES, _LONGEST_NAME = 1024, 200
"""Names of methods that are remembered, and their characters: the other side may name what there is not, at will."""


class BoundMethod:
    """One method as it crosses the wire."""

    __slots__ = ("name", "oneway", "params", "result", "wire_name")

    def __init__(self, interface: type, method: interfaces.Method) -> None:
        self.name = method.name
        self.wire_name = f"{wire_name(interface)}.{method.wire_name}"
        self.oneway = method.mark.oneway
        self.result = method.result
        self.params = _params(interface, method)


def wire_name(interface: type) -> str:
    """`PreparedModel` -> `preparedModel`."""
    return interface.__name__[:1].lower() + interface.__name__[1:]


def _params(interface: type, method: interfaces.Method) -> type[msgspec.Struct]:
    """A struct with the object's number and the parameters: params of the request."""
    signature = inspect.signature(getattr(interface, method.name)).parameters
    fields: list[Any] = [("object", int)]
    for name, kind in method.parameters:
        default = signature[name].default
        fields.append((name, kind) if default is inspect.Parameter.empty else (name, kind, default))
    floats = tuple(name for name, kind in method.parameters if kind == Float)
    name, bases = f"{interface.__name__}_{method.name}", (HasFloat if floats else Wire,)
    namespace = {"_float_fields": lambda _: floats}
    return msgspec.defstruct(name, fields, bases=bases, namespace=namespace, frozen=True)


@functools.cache
def bound_methods(interface: type) -> dict[str, BoundMethod]:
    """The methods of an interface by wire name."""
    methods = (BoundMethod(interface, method) for method in interfaces.describe(interface).values())
    return {method.wire_name: method for method in methods}


class Proxy:
    """Mixed into every remote object. The number is the object's on its connection."""

    _connection: Any
    _number: int
    _received: int
    _methods: dict[str, BoundMethod]

    def __del__(self) -> None:
        self._connection.dropped(self._number, self._received)

    def _call_each(self, calls: list[MethodCall]) -> Iterator[tuple[str, Any]]:
        methods = [self._methods[name] for name, _ in calls]
        answers = self._connection.call_each(
            [
                (method.wire_name, method.params(self._number, *arguments), method.result)
                for method, (_, arguments) in zip(methods, calls, strict=True)
            ]
        )
        return zip((name for name, _ in calls), answers, strict=True)


@functools.cache
def proxy_class(interface: type) -> type:
    """A class whose methods call the other side."""
    methods = {method.name: method for method in bound_methods(interface).values()}
    members = {name: _proxy_method(method) for name, method in methods.items()}
    return type(f"Remote{interface.__name__}", (Proxy, interface), {**members, "_methods": methods})


def call_each(target: Any, calls: Iterable[MethodCall]) -> Iterator[tuple[str, Any]]:
    """Call methods (name, arguments) of one object in turn; yields the name and the result of each.

    Here the next is called when it is asked for. On the other side of a connection all are called, whatever the first
    ones return: they travel together. None may be oneway.
    """
    if isinstance(target, Proxy):
        yield from target._call_each(list(calls))
        return
    for name, arguments in calls:
        yield name, getattr(target, name)(*arguments)


def _proxy_method(method: BoundMethod) -> Any:
    params = method.params

    if method.oneway:

        def call(self: Any, *arguments: Any, **named: Any) -> Any:
            self._connection.notify(method.wire_name, params(self._number, *arguments, **named))
    else:

        def call(self: Any, *arguments: Any, **named: Any) -> Any:
            return self._connection.call(method.wire_name, params(self._number, *arguments, **named), method.result)

    call.__name__ = method.name
    return call


def wrongly_returned(method: str) -> str:
    """What to do instead of returning what a method gives to its callback; empty for a method without one."""
    found = find_method(method)
    is_asynchronous = (
        found is not None and found[1].result in (None, type(None)) and "callback" in found[1].params.__struct_fields__
    )
    return "; give it to callback.notify, and return nothing (None)" if is_asynchronous else ""


def find_method(method: str) -> tuple[type, BoundMethod] | None:
    """Return the interface and the method of a wire name (`device.getType`), or None."""
    return _found(method) if len(method) <= _LONGEST_NAME else None


@functools.lru_cache(_MOST_NAMES)
def _found(method: str) -> tuple[type, BoundMethod] | None:
    for interface in contract_interfaces():
        found = bound_methods(interface).get(method) if method.startswith(wire_name(interface) + ".") else None
        if found is not None:
            return interface, found
    return None


def contract_interfaces() -> list[type]:
    """Every interface of the contract."""
    return _below(interfaces.Interface)


def _below(base: type) -> list[type]:
    found: list[type] = []
    kind: type
    for kind in base.__subclasses__():
        if kind.__module__.startswith(f"{specs.__name__}."):
            found.append(kind)
            found.extend(_below(kind))
    return found
