"""Allocators wrong on purpose, and such that differ and conform: the reference's, each with one thing bent."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

from npu_conformance.faults.fault import Fault, FaultySubject, Variant
from npu_conformance.faults.npu_buffers import allocation, conforming_managers, contents, release
from npu_conformance.faults.npu_buffers.boundary import Conforming, maker


def _kinds(*modules: ModuleType) -> list[type[Conforming]]:
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Conforming) and kind.__module__ == module.__name__
    ]


def _id(kind: type[Conforming]) -> str:
    return "npu-buffers-" + re.sub(r"(?<!^)(?=[A-Z](?=[a-z])|(?<=[a-z])[A-Z])", "-", kind.__name__).lower()


def _bent(kind: type[Conforming]) -> FaultySubject:
    clock = {"virtual_clock": not kind.real_time}
    return FaultySubject(maker(kind), ("manager", "manager_control"), manifest=lambda: clock)


FAULTS = tuple(
    Fault(
        _id(kind),
        inspect.getdoc(kind) or "",
        kind.breaks,
        (kind.caught_by,),
        _bent(kind),
        noticed_as=kind.noticed_as,
    )
    for kind in _kinds(allocation, contents, release)
)
"""One fault for each allocator."""

VARIANTS = tuple(Variant(_id(kind), inspect.getdoc(kind) or "", _bent(kind)) for kind in _kinds(conforming_managers))
"""One variant for each allocator."""
