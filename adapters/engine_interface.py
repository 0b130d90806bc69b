"""The interface of an engine that is made a driver: what `npu_conformance.adapters.engine` offers of it is public."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.neuralnetworks.types import Operand, Operation, Subgraph
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

Run = Callable[[Sequence[Array | None], Callable[[], None]], list[Array]]
"""Runs a loaded graph: values of all model inputs (built-in ones are not read) to model outputs. Raises EngineError.

The other argument is what an engine with loops, which nothing interrupts, calls before it gives them more rounds; it
raises where their time is over.
"""


class EngineError(Exception):
    """The engine, or the lowering to it, rejected a graph or failed to run it. The message says why."""


class EngineMissingError(LoadError):
    """The optional dependency cannot be used; the message says how to get it, or why not."""


@dataclass(frozen=True)
class Callees:
    """The referenced graphs of a model, each with the values of its constants, and the version whose rules hold."""

    version: Version = Version.V1_3
    graphs: tuple[tuple[Subgraph, Mapping[int, Array]], ...] = ()


NO_CALLEES = Callees()
"""The callees of a model without referenced graphs."""


class Lowered(Protocol):
    """A graph in the engine's form."""

    @property
    def shapes(self) -> Mapping[int, Shape]:
        """The inferred shapes of the operands, by index."""
        ...

    def load(self) -> Run:
        """Load the graph into the engine. Raises EngineError where the engine refuses it."""
        ...


class Engine(Protocol):
    """An engine with its settings. Equal engines do the same: it is a key of caches.

    A class that inherits from this one writes `name`, `version`, `has` and `lower`, and keeps the rest where it fits.
    """

    def __hash__(self) -> int:
        """The engine's identity; a frozen dataclass brings a hash of its settings."""
        return object.__hash__(self)

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in reports, with the settings: small letters, digits, and `_ . -` after the first."""
        ...

    @abstractmethod
    def version(self) -> str:
        """Version of the installed package. Raises EngineMissingError where it is not installed."""
        ...

    @property
    def most_tried_elements(self) -> int:
        """The most elements of a single operation that is run to try it; one with more is only loaded.

        A small number: kernels may be slow, and most reject a model before it runs.
        """
        return 4096

    @property
    def takes_open_shapes(self) -> bool:
        """True where an operation can be called supported though shapes or parameters come with the request only.

        So it is where the types alone say whether a graph can be lowered, when its shapes are known.
        """
        return True

    @abstractmethod
    def has(self, operation_type: int) -> bool:
        """True where the operation can be lowered at all. An engine without control flow has neither IF nor WHILE."""
        ...

    def unreadable(self, operation: Operation) -> frozenset[int]:
        """Results of an operation that no other operation can read, though they may be outputs of the graph."""
        return frozenset()

    def parameters(self, operation: Operation, operands: Sequence[Operand]) -> frozenset[int]:
        """Operands whose value the lowering needs, though they are tensors for NNAPI. Scalars are known always."""
        return frozenset()

    @abstractmethod
    def lower(
        self,
        graph: Subgraph,
        known: Mapping[int, Array],
        shapes: Mapping[int, Shape],
        omitted: frozenset[int] = frozenset(),
        callees: Callees = NO_CALLEES,
    ) -> Lowered:
        """Lower a graph. Raises EngineError where it has no equivalent.

        known: values of constants and of inputs to build in; omitted: model inputs without a value; shapes: of the
        model inputs, also of those that are built in; callees: what IF and WHILE refer to, for an engine that has them.
        """
        ...


def module(name: str, install_hint: str) -> Any:
    """Import a module of an optional dependency. Raises EngineMissingError: with the hint where it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}.")
        raise EngineMissingError(install_hint if is_missing else f"{name}: {one_line(str(error))}") from error
