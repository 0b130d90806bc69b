"""Calls of a subject in this process, judged as the wire judges them: by how they are declared.

What stands for an object of the subject passes each call on, and reads its result from the JSON that a host would send.
"""

from __future__ import annotations

import functools
import threading
import typing
from typing import Any

import msgspec

from npu_conformance.harness.judge.verdicts import Refused, breach
from npu_conformance.harness.wire.binding import BoundMethod, bound_methods, wrongly_returned
from npu_conformance.harness.wire.decoding import UNREADABLE, Decoders, wrong_type
from npu_conformance.harness.wire.outbox import UNWRITABLE, encode_special
from npu_conformance.harness.wire.protocol import INTERNAL_ERROR
from npu_conformance.specs.diagnostics import signatures
from npu_conformance.specs.interfaces import Method, describe, is_interface
from npu_conformance.specs.neuralnetworks.hal import PreparedModel, PreparedModelCallback


class Checked:
    """Mixed into what stands for an object. target: the object."""

    target: Any


def checked(target: Any, interface: type) -> Any:
    """What stands for an object of the subject."""
    stand_in = _checked_class(interface)()
    stand_in.target = target
    return stand_in


@functools.cache
def _checked_class(interface: type) -> type:
    methods = zip(describe(interface).values(), bound_methods(interface).values(), strict=True)
    members = {declared.name: _checked_method(declared, bound) for declared, bound in methods}
    return type(f"Checked{interface.__name__}", (Checked, interface), members)


def _checked_method(declared: Method, bound: BoundMethod) -> Any:
    taken = ", ".join(name for name, _ in declared.parameters) or "no argument"
    takes_objects = any(_holds_objects(kind) for _, kind in declared.parameters)

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        function = getattr(self.target, declared.name)
        if takes_objects:
            arguments, named = tuple(map(_bare, arguments)), {name: _bare(value) for name, value in named.items()}
        try:
            result = function(*arguments, **named)
        except TypeError as error:
            if not signatures.explain(error, function, f"it is called with {taken}"):
                raise
            raise Refused(f"{bound.wire_name}: raised TypeError: {error}", INTERNAL_ERROR) from None
        try:
            return _as_sent(result, bound)
        finally:
            _crossing.objects.clear()

    call.__name__ = declared.name
    return call


def _holds_objects(kind: Any) -> bool:
    """True for an interface, and for a type that is made of one."""
    return is_interface(kind) or any(map(_holds_objects, typing.get_args(kind)))


def _as_sent(result: object, method: BoundMethod) -> Any:
    """The result, as it comes over the wire. Refused where it is no message, Failed where it is of another type."""
    try:
        raw = _encoder.encode(result)
    except (*UNWRITABLE, RecursionError) as error:
        raise Refused(f"{method.wire_name}: the result cannot cross the wire: {error}", INTERNAL_ERROR) from None
    try:
        return _decoders.decode(method.result, raw)
    except UNREADABLE as error:
        wrong = wrong_type(error, method.result, raw) + wrongly_returned(method.wire_name)
        raise breach(f"{method.wire_name}: {wrong}") from None


class _Crossing(threading.local):
    """The objects in the result that a thread reads: their numbers there are how they are known."""

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def number_of(self, value: Any) -> int:
        self.objects.append(value)
        return len(self.objects)

    def object_of(self, number: int, interface: type) -> Any:
        if not 0 < number <= len(self.objects):
            raise ValueError(f"object {number} was never given")
        found = self.objects[number - 1]
        if not isinstance(found, interface):
            raise ValueError(f"{type(found).__name__} is no {interface.__name__}")
        return checked(found, interface)


_crossing = _Crossing()
_encoder = msgspec.json.Encoder(enc_hook=lambda value: encode_special(value, _crossing.number_of))
_decoders = Decoders(_crossing)


def _bare(argument: Any) -> Any:
    """An argument as the subject gets it: its own objects, and a callback through which these come back checked."""
    if isinstance(argument, Checked):
        return argument.target
    if isinstance(argument, tuple):
        return tuple(map(_bare, argument))
    return _Prepared(argument) if isinstance(argument, PreparedModelCallback) else argument


class _Prepared(PreparedModelCallback):
    """Passes a prepared model on."""

    def __init__(self, callback: PreparedModelCallback) -> None:
        self._callback = callback

    def notify(self, status: int, prepared_model: Any) -> None:
        """Put what stands for the prepared model in its place."""
        is_model = is_interface(type(prepared_model))
        self._callback.notify(status, checked(prepared_model, PreparedModel) if is_model else prepared_model)
