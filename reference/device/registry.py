"""Finds the kernel of an operation: a new module in kernels/ is all that another operation needs."""

import functools
import importlib
import keyword
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from npu_conformance.reference.device import kernels
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, Routine
from npu_conformance.specs.neuralnetworks.catalogue import operation_code
from npu_conformance.specs.neuralnetworks.enums import OperationType


class Kernel(Protocol):
    """A function from inputs (None where omitted) to the stored elements of each output, in its shape."""

    def __call__(self, inputs: Inputs, outputs: Outputs, /) -> tuple[Array, ...]: ...


class ControlFlow(Protocol):
    """A function from two graphs and values to values, of which the first ones are the outputs.

    next_round: called each time before graphs are run once more; may raise to end it.
    """

    def __call__(
        self, graphs: tuple[Routine, Routine], values: Sequence[Array], next_round: Callable[[], None], /
    ) -> list[Array]: ...


CONTROL_FLOW = frozenset({int(OperationType.IF), int(OperationType.WHILE)})
"""Operations that run graphs: their kernels are ControlFlow."""


_REGISTERED: dict[int, Kernel] = {}
"""Kernels of operations of extensions, by their numbers in the catalogue, of which none is given out twice."""


@functools.cache
def names() -> frozenset[str]:
    """Names of the operations that have a kernel."""
    return frozenset(module.name.upper() for module in pkgutil.iter_modules(kernels.__path__))


def has_kernel(operation_type: int) -> bool:
    """True where the device can compute this operation."""
    return operation_type in _REGISTERED or operation_type in _codes()


def add_kernel(operation_type: int, function: Kernel) -> None:
    """Let the device compute an operation of an extension. operation_type: its number in the catalogue."""
    _REGISTERED[operation_type] = function


@functools.cache
def _codes() -> frozenset[int]:
    return frozenset(operation_code(name) for name in names())


def kernel(operation_type: int) -> Kernel:
    """Return the kernel of an operation that has one and runs no graphs."""
    return _REGISTERED[operation_type] if operation_type in _REGISTERED else _stored_kernel(operation_type)


@functools.cache
def _stored_kernel(operation_type: int) -> Kernel:
    return cast(Kernel, _function(operation_type))


@functools.cache
def control_flow(operation_type: int) -> ControlFlow:
    """Return the kernel of an operation of CONTROL_FLOW."""
    return cast(ControlFlow, _function(operation_type))


def _function(operation_type: int) -> Any:
    """The function of the operation's module that bears its name; a Python keyword has an underscore behind it."""
    name = OperationType(operation_type).name.lower()
    module = importlib.import_module(f"{kernels.__name__}.{name}")
    return getattr(module, f"{name}_" if keyword.iskeyword(name) else name)
