"""Handles of the API's objects."""

from __future__ import annotations

import itertools
from typing import TypeVar

from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

Kind = TypeVar("Kind")


class Handles:
    """The objects of the API that have been made and not freed, by their handles, which are never used again."""

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}
        self._unused = itertools.count(1)

    def next(self) -> int:
        """A handle for what is no object: a device."""
        return next(self._unused)

    def add(self, made: object) -> int:
        """The handle of a new object."""
        handle = next(self._unused)
        self._objects[handle] = made
        return handle

    def get(self, kind: type[Kind], handle: int) -> Kind:
        """The object of a handle.

        Raises RuntimeFailure: UNEXPECTED_NULL for null; BAD_DATA, where a C program would crash, for a handle that was
        freed, never given out, or belongs to an object of another kind.
        """
        found = self._objects.get(handle)
        if isinstance(found, kind):
            return found
        if handle == NULL:
            raise RuntimeFailure(ResultCode.UNEXPECTED_NULL, f"the {kind.__name__} is null")
        raise RuntimeFailure(ResultCode.BAD_DATA, f"{handle} is no {kind.__name__}")

    def find(self, kind: type[Kind], handle: int) -> Kind | None:
        """The object of a handle; None where `get` raises."""
        found = self._objects.get(handle)
        return found if isinstance(found, kind) else None

    def free(self, kind: type[object], handle: int) -> None:
        """Forget an object; null and what is no handle of this kind are ignored (FW-API-002)."""
        if isinstance(self._objects.get(handle), kind):
            self._objects.pop(handle, None)

    def clear(self) -> None:
        """Forget all objects. Their handles stay used."""
        self._objects.clear()

    def count(self) -> int:
        """How many objects there are."""
        return len(self._objects)
