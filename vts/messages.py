"""Malformed messages straight at the wire: each is answered, by whatever error, and the driver lives on.

A call of every method that the version has is taken to pieces: each field in turn gets values of wrong types and absurd
ones, and all objects get an unknown field. Interface text of docs/wire-protocol.md; AOSP's transport, binder,
reads messages before a driver sees them, so that its VTS has no such tests.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported, Refused
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst_channel import CAPACITY, SlotTable
from npu_conformance.harness.run.executing.execution import ExecutionRecorder
from npu_conformance.harness.run.preparation import NO_TOKEN, PreparationArguments, PreparationRecorder, prepare
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.subject.remote_application import RemoteApplication
from npu_conformance.harness.wire.binding import BoundMethod, bound_methods, wire_name
from npu_conformance.harness.wire.protocol import INTERNAL_ERROR
from npu_conformance.specs.errors import InterfaceError, ServiceError, status_name
from npu_conformance.specs.interfaces import Method, describe, is_interface
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.hal import documented_statuses
from npu_conformance.vts.lib import addition

UID = 10_098
"""Whose connection carries the messages: a driver that ends it over one of them does not end the run."""

_WRONG: tuple[Any, ...] = (None, True, "text", 0.5, [], {}, [[[[]]]])
_HUGE_NUMBERS = (-1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1)
_MANY = 2000
_CALLBACK = "callback"
"""A callback that is not ours must not be called: the harness would have to take it for a breach of the protocol."""


Params = dict[str, Any]
Path = tuple[str | int, ...]


def cases() -> Iterator[Case]:
    """For each method, a case for each kind of message."""
    for interface in (hal.Device, hal.PreparedModel):
        for method in describe(interface).values():
            yield _case(interface, method, "unknown_fields", _unknown_fields)
            yield _case(interface, method, "wrong_types", _wrong_types)
            yield _case(interface, method, "absurd_values", _absurd_values)


def _case(interface: type, method: Method, kind: str, attack: Callable[[_Target], None]) -> Case:
    def run(context: CaseContext) -> None:
        attack(_Target(context, interface, method))

    return Case(
        f"vts.messages.{interface.__name__}_{method.wire_name}.{kind}",
        run,
        ("NNHAL-ROBUST-001", "NNHAL-ROBUST-003", "NNHAL-ERROR-006", "NNHAL-ERROR-008"),
        f"{interface.__name__}.{method.wire_name}: messages with {kind.replace('_', ' ')} are answered.",
        since=method.mark.since,
        until=method.mark.until,
        group=Group.VALIDATION,
    )


def _unknown_fields(target: _Target) -> None:
    """An unknown field in every object of the message changes nothing."""
    params = target.params()
    for path in [(), *paths(params)]:
        value = _at(params, path)
        if isinstance(value, dict):
            value["com.example.unknown"] = [1, {"a": None}]
    expected, found = target.answer(target.params()), target.answer(params)
    checks.equal(found, expected, f"{target.method.wire_name} with unknown fields in its message")


def _without_objects(value: Any) -> Any:
    """A result without its objects: each call makes new ones, and a fence is left out where all is done already."""
    if isinstance(value, tuple):
        return tuple(map(_without_objects, value))
    if not isinstance(value, msgspec.Struct):
        return "an object" if is_interface(type(value)) else value
    fields = {name: _without_objects(getattr(value, name)) for name in value.__struct_fields__}
    return {name: field for name, field in fields.items() if field not in (None, "an object")}


def _wrong_types(target: _Target) -> None:
    for path in paths(target.params()):
        target.survives(path, lambda value: [other for other in _WRONG if type(other) is not type(value)])


def _absurd_values(target: _Target) -> None:
    for path in paths(target.params()):
        target.survives(path, _absurd)


def _absurd(value: Any) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return list(_HUGE_NUMBERS)
    if isinstance(value, float):
        return ["NaN", "Infinity", -1e308]
    if isinstance(value, str):
        return ["A" * (_MANY * 400), "="]
    if isinstance(value, list):
        return [value[:1] * _MANY, [0] * _MANY]
    return []


class _Target:
    """One method, called on a connection of its own with whatever params."""

    def __init__(self, context: CaseContext, interface: type, method: Method) -> None:
        self.context = context
        self.method = method
        self._interface = interface
        self._bound: BoundMethod = bound_methods(interface)[f"{wire_name(interface)}.{method.wire_name}"]
        self._statuses = {status_name(one) for one in documented_statuses(method.mark.statuses, context.version)}
        self._connect()

    def params(self) -> Params:
        """Params of a call that has nothing wrong."""
        return copy.deepcopy(self._params)

    def answer(self, params: Params) -> str:
        """Call; the answer as text, or the name of the error. Failed for an answer that no driver may give.

        Objects that the call makes are let go at once: a driver may have room for one of a kind.
        """
        what = f"{self.method.wire_name} of a malformed message"
        try:
            return repr(_without_objects(self._connection.call(self._bound.wire_name, params, self._bound.result)))
        except ServiceError as error:
            if self._statuses:
                checks.member(status_name(error.status), self._statuses, what)
            return status_name(error.status)
        except Refused as refusal:
            checks.that(refusal.code != INTERNAL_ERROR, f"{what}: {refusal}")
            return f"error {refusal.code}"
        except InterfaceError as error:
            return type(error).__name__

    def survives(self, path: Path, edits: Callable[[Any], Iterable[Any]]) -> None:
        """Put other values at the path; the driver answers each message, and afterwards one that is in order."""
        values = list(edits(_at(self._params, path)))
        if not values:
            return
        with self.context.configuration(_label(path)):
            if self._restarts != self.context.restarts:
                self._connect()
            for value in values:
                self.answer(_with(self._params, path, value))
            self._connection.call("device.getCapabilities", {"object": self._device}, msgspec.Raw)

    def _connect(self) -> None:
        self._restarts = self.context.restarts
        application = _connection_to(self.context)
        device = self.context.device_of(application)
        self._connection = application.connection
        self._device = self._connection.objects.number_of(device)
        self._memory = application.memory.create("ashmem", addition.POOL).memory
        self._object = self._prepared(device) if self._interface is hal.PreparedModel else device
        arguments = [self._argument(name, kind) for name, kind in self.method.parameters]
        number = self._connection.objects.number_of(self._object)
        struct = self._bound.params(number, *arguments)
        # By way of JSON, since `to_builtins` keeps tuples, which are arrays on the wire.
        self._params = msgspec.json.decode(msgspec.json.encode(struct, enc_hook=self._connection.objects.number_of))

    def _prepared(self, device: hal.Device) -> hal.PreparedModel:
        arguments = PreparationArguments()
        prepared_model = prepare(self.context.subject, device, _MODEL, arguments, PreparationRecorder()).prepared_model
        if prepared_model is None:
            raise NotSupported("the device does not support ADD of TENSOR_FLOAT32")
        return prepared_model

    @property
    def _none(self) -> int:
        return self.context.version.unavailable_time

    def _argument(self, name: str, kind: Any) -> Any:
        """A value for a parameter: by its name where the type alone does not tell, neutral where nothing is known."""
        known = {
            "preference": ExecutionPreference.FAST_SINGLE_ANSWER, "priority": Priority.MEDIUM, "token": NO_TOKEN,
            "model": _MODEL, "request": addition.request(self._memory), "desc": types.BufferDesc((2,)),
            "prepared_models": (), "input_roles": (types.BufferRole(0, 0, 1.0),),
        }  # fmt: skip
        if name in known:
            return known[name]
        if kind == hal.BurstCallback | None:
            return SlotTable()
        if kind is types.QueueDescriptor:
            return types.QueueDescriptor(CAPACITY)
        if name == _CALLBACK:
            return PreparationRecorder() if self._interface is hal.Device else ExecutionRecorder()
        if kind is types.ExecutionConfig:
            return types.ExecutionConfig(loop_timeout_duration_ns=self._none)
        if kind is types.PrepareModelConfig:
            return types.PrepareModelConfig(1, Priority.MEDIUM, self._none, (), (), NO_TOKEN)
        return {int: self._none, bool: False}.get(kind, ())


_MODEL = addition.FLOAT32.model()


def _connection_to(context: CaseContext) -> RemoteApplication | RemoteSubject:
    """A connection of its own where the subject gives any, else the run's."""
    try:
        application = context.application(UID)
    except NotApplicable:
        if isinstance(context.subject, RemoteSubject):
            return context.subject
        raise
    if not isinstance(application, RemoteApplication):
        raise NotApplicable("the subject's connections carry no messages")
    return application


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where values lie in a message, outer ones first: every field, and the first element of every array."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = [(name, field) for name, field in value.items() if name != _CALLBACK]
    elif isinstance(value, list):
        inside = list(enumerate(value[:1]))
    for key, field in inside:
        yield (*path, key)
        yield from paths(field, (*path, key))


def _at(params: Params, path: Path) -> Any:
    value: Any = params
    for key in path:
        value = value[key]
    return value


def _with(params: Params, path: Path, value: Any) -> Params:
    """A copy of the params with another value at the path."""
    edited = copy.deepcopy(params)
    _at(edited, path[:-1])[path[-1]] = value
    return edited


def _label(path: Path) -> str:
    return ".".join(f"at{key}" if isinstance(key, int) else key for key in path)
