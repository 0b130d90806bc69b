"""The guard: an implementation dies of whatever it raises, wherever that comes out, as behind a wire.

In the harness's own process nothing else distinguishes a bug of the implementation from a bug of the suite. Exceptions
come out of calls, of objects that calls and callbacks give (prepared models, allocators, listeners), of the callback
that a manager registers at a HAL of the suite's, and of what an implementation does when a connection closes.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.specs.errors import DeadObject, InterfaceError
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.plugin import Caller, Context

Interface = TypeVar("Interface")


class Life:
    """The life of one implementation. It stays dead: where nobody waits for an answer, the next call reports that."""

    def __init__(self) -> None:
        self._cause = ""
        self._guards: weakref.WeakValueDictionary[object, Guard] = weakref.WeakValueDictionary()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the implementation. Raises DeadObject where it dies of that, or is dead already."""
        if self._cause:
            raise DeadObject(self._cause)
        try:
            return function(*arguments)
        except (InterfaceError, CaseEnded):  # raised on purpose; and what a callback of the suite's has found
            raise
        except Exception as error:
            self._cause = f"{type(error).__name__}: {error}"
            raise DeadObject(self._cause) from error

    def guard(self, interface: type[Interface], inner: Interface | None) -> Interface | None:
        """An object of the implementation's as the suite sees it; None for None."""
        return None if inner is None else cast(Interface, self.guarded(interface, inner, True))

    def guarded(self, interface: Any, inner: object, is_of_implementation: bool) -> object:
        """The stand-in of an object, the same one as long as somebody has it; on its way back the object itself.

        Fences stay what they are: the implementation gets its own back to wait for.
        """
        if issubclass(interface, Fence):
            return inner
        if isinstance(inner, Guard) and inner.life is self and inner.is_of_implementation is not is_of_implementation:
            return inner.inner
        key = (id(inner), interface, is_of_implementation)
        found = self._guards.get(key)
        if found is None:
            found = self._guards[key] = self.stand_in(interface)(self, inner, is_of_implementation)
        return found

    def stand_in(self, interface: type) -> type[Guard]:
        """The class of the stand-ins of an interface."""
        return _guard_class(interface)

    def watch(self, context: Context) -> Context:
        """A context whose hang-ups are guarded as well."""

        def on_hang_up(listener: Callable[[Caller], None]) -> None:
            context.on_hang_up(functools.partial(self.call, listener))

        return dataclasses.replace(context, on_hang_up=on_hang_up)


class Guard(Wrapper):
    """Stands for an object of the implementation's that the suite calls, or the other way round."""

    def __init__(self, life: Life, inner: object, is_of_implementation: bool) -> None:
        super().__init__(inner)
        self.life = life
        self.is_of_implementation = is_of_implementation

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method; those of the implementation's objects may be its death."""
        function = getattr(self.inner, name)
        return self.life.call(function, *arguments) if self.is_of_implementation else function(*arguments)

    def given(self, interface: type, value: Any) -> Any:
        """An object of the other side's."""
        return self.life.guarded(interface, value, not self.is_of_implementation)

    def taken(self, interface: type, value: Any) -> Any:
        """An object of this side's."""
        return self.life.guarded(interface, value, self.is_of_implementation)


@functools.cache
def _guard_class(interface: type) -> type[Guard]:
    return forwarding(interface)(type(f"Guarded{interface.__name__}", (Guard, interface), {}))
