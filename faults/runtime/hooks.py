"""The boundary between an app and the reference runtime, at which faulty runtimes change what crosses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.runtime.subject import edited_runtime
from npu_conformance.faults.wrapper import Wrapper, forwarding
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import NEWEST, Version


@forwarding(Runtime)
class FaultyRuntime(Wrapper, Runtime):
    """A runtime behind the boundary. inner: the reference's. context: the plug-in's."""

    inner: Runtime

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner)
        self.context = context

    def bytes_at(self, pointer: Pointer, length: int) -> memoryview:
        """The app's bytes behind a pointer."""
        return self.context.memory.map(pointer.memory)[pointer.offset : pointer.offset + length]


Hook = Callable[[FaultyRuntime, Callable[..., Any], tuple[Any, ...]], Any]
"""What happens instead of a call: the runtime, the call that was meant, and its arguments."""


def overriding(hooks: Mapping[str, Hook]) -> type[FaultyRuntime]:
    """A kind of runtime in which calls of these methods go through hooks."""

    class Kind(FaultyRuntime):
        def call(self, name: str, *arguments: Any) -> Any:
            hook = hooks.get(name)
            if hook is None:
                return super().call(name, *arguments)
            return hook(self, getattr(self.inner, name), arguments)

    return Kind


def answering(change: Callable[[int], int]) -> Hook:
    """A hook that changes the result code of an answer."""

    def hook(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        answer = meant(*arguments)
        if isinstance(answer, int):
            return change(answer)
        return replace(answer, result=change(answer.result))

    return hook


def passing(*places: int, change: Callable[[Any], Any]) -> Hook:
    """A hook that changes arguments at these places before the call is made."""

    def hook(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return meant(*(change(each) if place in places else each for place, each in enumerate(arguments)))

    return hook


def saying(**fields: Any) -> Hook:
    """A hook that replaces fields of an answer that succeeded; functions are applied to what was there."""

    def hook(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        answer = meant(*arguments)
        if answer.result:
            return answer
        changed = {name: to(getattr(answer, name)) if callable(to) else to for name, to in fields.items()}
        return replace(answer, **changed)

    return hook


def always(answer: Any) -> Hook:
    """A hook that answers without making the call."""
    return lambda runtime, meant, arguments: answer


def behind(kind: type[FaultyRuntime], level: Version = NEWEST, *, drivers: int = 1) -> FaultySubject:
    """The reference runtime behind this kind of boundary. level: its feature level. drivers: how many it has."""
    return edited_runtime((), level, kind, drivers=drivers)
