"""The methods and structs of the wire, from the declarations: methods.json and structs.json of the kit, and a page."""

from __future__ import annotations

import enum
import functools
import inspect
import json
import re
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from npu_conformance.cli.kit import names
from npu_conformance.harness.wire.binding import wire_name
from npu_conformance.specs import interfaces
from npu_conformance.specs.naming import camel_case
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.control import RuntimeControl
from npu_conformance.specs.npu import buffers, manager, scheduling, workload
from npu_conformance.specs.versions import NEWEST, OLDEST
from npu_conformance.specs.wire_types import Float, Wire, field_since

PAGE = "methods.md"
CHAPTERS: dict[str, tuple[type, ...]] = {
    "The Neural Networks HAL": (
        *(hal.Device, hal.PreparedModelCallback, hal.PreparedModel, hal.ExecutionCallback, hal.FencedExecutionCallback),
        *(hal.Fence, hal.Burst, hal.Execution, hal.Buffer, hal.BurstContext, hal.BurstCallback),
    ),
    "The NPU scheduling HAL": (
        *(scheduling.Scheduling, scheduling.SchedulingCallback),
        *(workload.Workload, workload.WorkloadCallback, workload.SchedulingControl),
    ),
    "The NPU Manager": (
        *(manager.Manager, manager.ModelLoadRequestCallback, manager.ModelLoadStatusListener, manager.ManagerControl),
        *(buffers.Allocator, buffers.AllocatorCallback, buffers.NpuBuffer),
    ),
    "An NNAPI runtime": (Runtime, RuntimeControl),
}
"""Every interface that crosses the wire, under the title of its part of the page."""
_OF_THE_HARNESS = (
    *(hal.PreparedModelCallback, hal.ExecutionCallback, hal.BurstCallback, scheduling.SchedulingCallback),
    *(workload.WorkloadCallback, manager.ModelLoadRequestCallback, buffers.AllocatorCallback),
)
_OF_BOTH = (hal.Fence,)
_IMPLEMENTED = {
    "driver": "The driver implements it.",
    "harness": "The harness implements it, and the driver calls it.",
    "both": "Either side may implement it.",
}
_JSON = {int: "int", bool: "bool", str: "text", bytes: "base64", Float: "float", float: "float", type(None): "null"}


def methods() -> dict[str, Any]:
    """Each method by its name on the wire: who implements it, versions, parameters in order, result, what it does."""
    return {name: _entry(interface, method) for interface in _interfaces() for name, method in _methods_of(interface)}


def structs() -> dict[str, Any]:
    """Each struct that a method takes or gives: its fields in order; one that has a default may be left out."""
    return {
        kind.__name__: {
            "text": _text(kind),
            "fields": {field.encode_name: _field(kind, field) for field in _fields(kind)},
        }
        for kind in _structs()
    }


def page() -> str:
    """The page that docs/wire-protocol-methods.md is."""
    chapters = "\n".join(line for title, kinds in CHAPTERS.items() for line in (f"## {title}\n", *_tables(kinds)))
    fields = "\n".join(line for name, entry in structs().items() for line in _struct_table(name, entry))
    return f"{_BEGINNING}\n{chapters}\n{names.page()}\n## Structs\n\n{_OF_STRUCTS}\n{fields}".rstrip() + "\n"


_BEGINNING = """# The wire protocol: every method and struct

Generated from the declarations that the harness itself uses: `npu-conformance kit DIR` writes this page as
`methods.md`, and the same for a program as `methods.json` and `structs.json`. [wire-protocol.md](wire-protocol.md)
says how a call is made, and shows examples.

Beside these arguments a call has `object`, the number of the object that is called. `[X]` is an array, `X or null`
may be null, a struct is an object (below), an interface is the number of an object, `base64` is a string of RFC 4648,
and `float` a number or one of `"NaN"`, `"Infinity"`, `"-Infinity"`. A method is sent to drivers of its versions;
where none stand, to all. One that is *oneway* is a notification, and has no answer. A result of `null` is written
`"result":null`. *Statuses* are those that the interface documents, by number (`ErrorStatus` in `enums.json`): an
error -32001 tells them, and so do callbacks.
"""
_OF_STRUCTS = (
    "A field that has a default may be missing. Where *since* says nothing the field is as old as its struct.\n"
)


def spelled(kind: Any) -> str:
    """A type as the page and the files of the kit write it."""
    if kind in _JSON:
        return _JSON[kind]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return spelled(type(next(iter(kind)).value))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return spelled(arguments[0])
    if origin is tuple:
        return f"[{spelled(arguments[0])}]"
    if origin is dict:
        return f"{{{spelled(arguments[0])}: {spelled(arguments[1])}}}"
    if origin in (types.UnionType, typing.Union):
        return " or ".join(spelled(argument) for argument in arguments)
    return str(kind.__name__)


def _interfaces() -> Iterator[type]:
    for kinds in CHAPTERS.values():
        yield from kinds


def _methods_of(interface: type) -> Iterator[tuple[str, interfaces.Method]]:
    for method in interfaces.describe(interface).values():
        yield f"{wire_name(interface)}.{method.wire_name}", method


def _entry(interface: type, method: interfaces.Method) -> dict[str, Any]:
    return {
        "implemented_by": _implementer(interface),
        "since": method.mark.since.value,
        "until": None if method.mark.until is NEWEST else method.mark.until.value,
        "oneway": method.mark.oneway,
        "params": {camel_case(parameter): spelled(kind) for parameter, kind in method.parameters},
        "result": spelled(method.result),
        "statuses": [status.name for letter in method.mark.statuses for status in hal.STATUS_LETTERS[letter]],
        "text": _text(getattr(interface, method.name)),
    }


def _implementer(interface: type) -> str:
    if interface in _OF_BOTH:
        return "both"
    return "harness" if interface in _OF_THE_HARNESS else "driver"


def _text(declared: Any) -> str:
    """The first paragraph of a docstring as one line, with names as the wire has them."""
    words = inspect.cleandoc(declared.__doc__ or "").split("\n\n")[0].split()
    return re.sub(r"\w+", lambda found: _wire_names().get(found[0], found[0]), " ".join(words))


@functools.cache
def _wire_names() -> dict[str, str]:
    """How the names of methods, parameters and fields are written on the wire, where that differs from Python."""
    declared = [method for interface in _interfaces() for _, method in _methods_of(interface)]
    names = {method.name for method in declared} | {name for method in declared for name, _ in method.parameters}
    names |= {field.name for kind in _structs() for field in _fields(kind)}
    return {"None": "null", **{name: camel_case(name) for name in sorted(names) if "_" in name}}


@functools.cache
def _structs() -> tuple[type[Wire], ...]:
    """Every struct that a method's parameters or result hold, in the order in which they are met."""
    found: dict[type[Wire], None] = {}
    for interface in _interfaces():
        for _, method in _methods_of(interface):
            for kind in (*(kind for _, kind in method.parameters), method.result):
                _collect(kind, found)
    return tuple(found)


def _collect(kind: Any, found: dict[type[Wire], None]) -> None:
    for argument in typing.get_args(kind):
        _collect(argument, found)
    if isinstance(kind, type) and issubclass(kind, Wire) and kind not in found:
        found[kind] = None
        for field in _fields(kind):
            _collect(field.type, found)


def _fields(kind: type[Wire]) -> Sequence[msgspec.structs.FieldInfo]:
    return msgspec.structs.fields(kind)


def _field(kind: type[Wire], field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    since = field_since(kind, field.name)
    entry: dict[str, Any] = {"type": spelled(field.type), "since": None if since is OLDEST else since.value}
    if not field.required:
        value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        entry["default"] = msgspec.to_builtins(value)
    return entry


def _tables(kinds: Sequence[type]) -> Iterator[str]:
    """The methods of each interface: a paragraph that says who implements it, and a table."""
    for interface in kinds:
        yield f"### {wire_name(interface)}\n"
        yield f"{_text(interface)} {_IMPLEMENTED[_implementer(interface)]}\n"
        yield "| method | params | result | versions | what it does |\n| --- | --- | --- | --- | --- |"
        for name, method in _methods_of(interface):
            yield _row(name, _entry(interface, method))
        yield ""


def _row(name: str, entry: dict[str, Any]) -> str:
    params = "<br>".join(f"`{parameter}` {kind}" for parameter, kind in entry["params"].items())
    numbers = " ".join(str(int(ErrorStatus[status])) for status in entry["statuses"])
    text = f"{entry['text']} Statuses: {numbers}." if numbers else entry["text"]
    result = "oneway" if entry["oneway"] else entry["result"]
    return f"| `{name}` | {params} | {result} | {_spelled_versions(entry)} | {_in_a_cell(text)} |"


def _spelled_versions(entry: dict[str, Any]) -> str:
    since = "" if entry["since"] == OLDEST.value else f"since {entry['since']}"
    until = f"until {entry['until']}" if entry["until"] else ""
    return " ".join(filter(None, (since, until)))


def _struct_table(name: str, entry: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}\n\n{entry['text']}\n\n| field | type | default | since |\n| --- | --- | --- | --- |"
    for field, told in entry["fields"].items():
        default = f"`{json.dumps(told['default'])}`" if "default" in told else ""
        yield f"| `{field}` | {told['type']} | {default} | {told['since'] or ''} |"
    yield ""


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|")
