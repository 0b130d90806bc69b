"""The vendors' extensions that this process knows: each is one object, which comes and goes with one call.

Operand types, the catalogue, the rules, and the oracles and vectors of the corpus look through the registered
extensions and keep no list of their own. `cached_while_registered` keeps what they work out meanwhile.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import operand_types
from npu_conformance.specs.neuralnetworks.operand_types import OperandTypeInfo
from npu_conformance.specs.neuralnetworks.operation_tables import OperationTable
from npu_conformance.specs.neuralnetworks.types import Extension

Answer = TypeVar("Answer")

PARTS = {"operations": ".json", "rules": ".py", "oracles": ".py", "vectors": ".json"}
"""The folders with one file for an operation, and how the names of these files end."""


@dataclass(frozen=True, eq=False)
class RegisteredExtension:
    """A vendor's extension: the content of one folder, with the numbers that the catalogue has for it.

    number: of the extension in this process. types and tables: of its operand types and operations. listed: as
    getSupportedExtensions has to say it. modules: the Python files of the folder that were executed so far.
    """

    name: str
    number: int
    folder: Path
    types: tuple[OperandTypeInfo, ...]
    tables: tuple[OperationTable, ...]
    listed: Extension
    modules: dict[Path, ModuleType] = field(default_factory=dict, repr=False)

    @property
    def operations(self) -> tuple[str, ...]:
        """The names of its operations."""
        return tuple(table.name for table in self.tables)

    def file(self, part: str, operation: str) -> Path:
        """The file of an operation in one of PARTS."""
        return self.folder / part / f"{operation.lower()}{PARTS[part]}"


_REGISTERED: dict[str, RegisteredExtension] = {}
_CACHES: list[functools._lru_cache_wrapper[Any]] = []
_UNUSED = itertools.count(1)


def new_number() -> int:
    """A number for an extension, which no other had before in this process."""
    return next(_UNUSED)


def register(extension: RegisteredExtension) -> None:
    """Make an extension known. Its name, and those of its types and operations, must not be known already."""
    _REGISTERED[extension.name] = extension
    for info in extension.types:
        operand_types.add(info)
    _forget_answers()


def unregister(name: str) -> None:
    """Forget an extension."""
    extension = _REGISTERED.pop(name)
    for info in extension.types:
        operand_types.remove(info)
    _forget_answers()


def all_registered() -> tuple[RegisteredExtension, ...]:
    """The registered extensions, in the order in which they came."""
    return tuple(_REGISTERED.values())


def find(name: str) -> RegisteredExtension | None:
    """The registered extension with this name."""
    return _REGISTERED.get(name)


def with_number(number: int) -> RegisteredExtension:
    """The registered extension that has this number."""
    return next(extension for extension in all_registered() if extension.number == number)


def require(names: Iterable[str], document: str) -> None:
    """Raise DocumentError where an extension that a document needs is not registered."""
    for name in names:
        if name not in _REGISTERED:
            raise DocumentError(document, "", f"needs the extension {name}: give its folder with --catalogue DIR")


def cached_while_registered(
    maxsize: int | None = None,
) -> Callable[[Callable[..., Answer]], functools._lru_cache_wrapper[Answer]]:
    """functools.lru_cache for answers that depend on which extensions are registered: any change makes it forget."""

    def cached(function: Callable[..., Answer]) -> functools._lru_cache_wrapper[Answer]:
        cache = functools.lru_cache(maxsize)(function)
        _CACHES.append(cache)
        return cache

    return cached


def _forget_answers() -> None:
    for cache in _CACHES:
        cache.cache_clear()
