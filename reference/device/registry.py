"""Finds the kernel of an operation: adding a module to kernels/ is all it takes to have one more."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Sequence
from typing import Protocol, cast

from npu_conformance.reference.device import kernels
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor
from npu_conformance.specs.neuralnetworks.enums import OperationType


class Kernel(Protocol):
    """A function from inputs (null where omitted) to the stored elements of each output, in its shape."""

    def __call__(self, inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo], /) -> tuple[Array, ...]: ...


@functools.cache
def names() -> frozenset[str]:
    """Names of the operations that have a kernel."""
    return frozenset(module.name.upper() for module in pkgutil.iter_modules(kernels.__path__))


def has_kernel(operation_type: int) -> bool:
    """True where the device can compute this operation."""
    return operation_type in _codes()


@functools.cache
def _codes() -> frozenset[int]:
    return frozenset(int(OperationType[name]) for name in names())


@functools.cache
def kernel(operation_type: int) -> Kernel:
    """Return the kernel of an operation that has one."""
    name = OperationType(operation_type).name.lower()
    return cast(Kernel, getattr(importlib.import_module(f"{kernels.__name__}.{name}"), name))
