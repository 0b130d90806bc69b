"""Makes exceptions of an implementation look like the death of its process, as they would be behind a wire.

In the harness's own process nothing else tells a bug of the implementation from a bug of the suite.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyBuffer, FaultyDevice, FaultyPreparedModel, forwarding
from npu_conformance.specs.errors import DeadObject, InterfaceError
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks import hal

_GIVEN: tuple[type, ...] = (hal.Execution, hal.Burst, hal.BurstContext)
"""Objects that calls of prepared models give."""

Kind = TypeVar("Kind", bound=type)
Guarded = TypeVar("Guarded")


def _guarding(interface: type) -> Callable[[Kind], Kind]:
    def fill(kind: Kind) -> Kind:
        for name in describe(interface):
            setattr(kind, name, _guard(getattr(kind, name)))
        return kind

    return fill


def _guard(call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*arguments: Any) -> Any:
        try:
            return _with_guards(call(*arguments))
        except InterfaceError:
            raise
        except Exception as error:
            raise DeadObject(f"{type(error).__name__}: {error}") from error

    return guarded


def _with_guards(result: Any) -> Any:
    """What a call gives, guarded in its turn; fences come back as wait fences, and stay what they are."""
    if isinstance(result, hal.FencedExecutionResult):
        return replace(result, callback=with_guard(hal.FencedExecutionCallback, result.callback))
    given = next((interface for interface in _GIVEN if isinstance(result, interface)), None)
    return result if given is None else _guarded_class(given)(result)


@functools.cache
def _guarded_class(interface: type) -> type:
    def begin(self: Any, inner: object) -> None:
        self.inner = inner

    kind = type(f"Guarded{interface.__name__}", (interface,), {"__init__": begin})
    return _guarding(interface)(forwarding(interface)(kind))


def with_guard(interface: type[Guarded], inner: Guarded | None) -> Guarded | None:
    """An object of this interface whose exceptions are deaths; null for null."""
    kind: Callable[[Guarded], Guarded] = _guarded_class(cast(Any, interface))
    return None if inner is None else kind(inner)


@_guarding(hal.PreparedModel)
class GuardedPreparedModel(FaultyPreparedModel):
    """A prepared model whose exceptions are deaths."""


@_guarding(hal.Buffer)
class GuardedBuffer(FaultyBuffer):
    """A buffer whose exceptions are deaths."""


@_guarding(hal.Device)
class GuardedDevice(FaultyDevice):
    """A device whose exceptions are deaths."""

    prepared_model = GuardedPreparedModel
    buffer = GuardedBuffer
