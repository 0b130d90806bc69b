"""The guard around the npu services: whatever they raise is their death, wherever it comes out.

It comes out of calls of a service, of objects that calls and callbacks give (allocators, buffers, listeners), of the
callback that a manager registers at a HAL of the suite's, and of what a manager does when a connection closes. Which
arguments and results are such objects the interfaces' type hints say.
"""

from __future__ import annotations

import functools
import typing
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.specs.errors import DeadObject, InterfaceError
from npu_conformance.specs.interfaces import Method, describe, is_interface
from npu_conformance.specs.plugin import Caller, Context

Guarded = TypeVar("Guarded")


class Life:
    """That of one implementation. What has died stays dead: where nobody waits for an answer, the next call tells."""

    def __init__(self) -> None:
        self._cause = ""
        self._forwarders: weakref.WeakValueDictionary[object, _Forwarder] = weakref.WeakValueDictionary()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the implementation. DeadObject: it dies of that, or is dead already."""
        if self._cause:
            raise DeadObject(self._cause)
        try:
            return function(*arguments)
        except (InterfaceError, CaseEnded):  # said on purpose; and what a callback of the suite's has found
            raise
        except Exception as error:
            self._cause = f"{type(error).__name__}: {error}"
            raise DeadObject(self._cause) from error

    def guard(self, interface: type[Guarded], inner: Guarded | None) -> Guarded | None:
        """An object of the implementation's as the suite sees it; null for null."""
        return cast(Guarded | None, self.forwarder(interface, inner, True))

    def forwarder(self, interface: Any, inner: object, is_of_implementation: bool) -> _Forwarder | None:
        """What stands for an object, the same as long as somebody has it; null for null."""
        if inner is None:
            return None
        key = (id(inner), interface, is_of_implementation)
        found = self._forwarders.get(key)
        if found is None:
            found = self._forwarders[key] = _forwarder(interface, is_of_implementation)(self, inner)
        return found

    def watch(self, context: Context) -> Context:
        """A context whose hang-ups are guarded as well."""

        def on_hang_up(listener: Callable[[Caller], None]) -> None:
            context.on_hang_up(functools.partial(self.call, listener))

        return replace(context, on_hang_up=on_hang_up)


class _Forwarder:
    """Forwards calls to `inner`, with forwarders in place of the objects that go along or come back."""

    def __init__(self, life: Life, inner: object) -> None:
        self.life, self.inner = life, inner

    def given(self, interface: type | None, value: Any, is_of_implementation: bool) -> Any:
        """An argument or a result as the other side gets it."""
        return value if interface is None else self.life.forwarder(interface, value, is_of_implementation)


@functools.cache
def _forwarder(interface: type, is_of_implementation: bool) -> type[_Forwarder]:
    """A class of objects that the suite calls, or of objects of the suite's that the implementation calls."""
    calls = {name: _forward(method, is_of_implementation) for name, method in describe(interface).items()}
    return type(f"Guarded{interface.__name__}", (_Forwarder, interface), calls)


def _forward(method: Method, is_of_implementation: bool) -> Callable[..., Any]:
    kinds = [_interface_of(hint) for _, hint in method.parameters]
    result = _interface_of(method.result)

    def forward(self: Any, *arguments: Any) -> Any:
        others = [self.given(*pair, not is_of_implementation) for pair in zip(kinds, arguments, strict=False)]
        function = getattr(self.inner, method.name)
        answer = self.life.call(function, *others) if is_of_implementation else function(*others)
        return self.given(result, answer, is_of_implementation)

    return forward


def _interface_of(hint: Any) -> type | None:
    """The interface that a hint names, by itself or beside null."""
    return next((kind for kind in (hint, *typing.get_args(hint)) if is_interface(kind)), None)
