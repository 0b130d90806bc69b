"""Drivers with the extension of examples/extension, each wrong in one way. The folder of the example is in sys.path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from driver import EXTENSION, ExampleDevice, clamp, manifest, requantize
from msgspec.structs import replace

from npu_conformance.reference.device.registry import Kernel, add_kernel
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.catalogue import operation_code
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Extension, Model
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version


class ListsOnly(ExampleDevice):
    """Lists the extension and supports no operation of it."""

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        answers = super().get_supported_operations(model)
        pairs = zip(model.main.operations, answers, strict=True)
        return tuple(answer and operation.type <= 0xFFFF for operation, answer in pairs)

    def _obstacle(self, model: Model, index: int, pools: list[memoryview], graph: int = 0) -> str | None:
        is_own = model.main.operations[index].type > 0xFFFF
        return "not yet" if is_own else super()._obstacle(model, index, pools, graph)


class Unlisted(ExampleDevice):
    """Supports the operations and does not list the extension."""

    def get_supported_extensions(self) -> tuple[Extension, ...]:
        return ()


class OtherSize(ExampleDevice):
    """Lists the operand type with the size of another one."""

    def get_supported_extensions(self) -> tuple[Extension, ...]:
        (kind,) = EXTENSION.operand_types
        return (replace(EXTENSION, operand_types=(replace(kind, byte_size=4),)),)


class RemembersPrefix(ExampleDevice):
    """Expects in every model the prefix that the first one had."""

    prefix = 0

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        for mapping in model.extension_name_to_prefix:
            self.prefix = self.prefix or mapping.prefix
            if mapping.prefix != self.prefix:
                return (False,) * len(model.main.operations)
        return super().get_supported_operations(model)


class LastPrefixWins(ExampleDevice):
    """Executes with the prefix of the model that was prepared last."""

    last: ClassVar[list[int]] = []

    def prepare_model(self, model: Model, *rest: Any) -> None:
        *arguments, callback = rest
        prefix = max((mapping.prefix for mapping in model.extension_name_to_prefix), default=0)
        self.last[:] = [prefix]

        def notify(status: int, prepared_model: PreparedModel | None) -> None:
            if prepared_model is not None:
                prepared_model.execute_synchronously = _only_while(  # type: ignore[method-assign]
                    lambda: self.last == [prefix], prepared_model.execute_synchronously
                )
            callback.notify(status, prepared_model)

        super().prepare_model(model, *arguments, SimpleNamespace(notify=notify))  # type: ignore[call-arg]


def _only_while(holds: Callable[[], bool], call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*arguments: Any) -> Any:
        if not holds():
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no extension has this prefix")
        return call(*arguments)

    return guarded


class TakesAnyMapping(ExampleDevice):
    """Takes the last entry of a mapping for each name and each prefix."""

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        return super().get_supported_operations(_mended(model))

    def prepare_model(self, model: Model, *rest: Any) -> None:
        super().prepare_model(_mended(model), *rest)


def _mended(model: Model) -> Model:
    by_prefix = {one.prefix: one for one in reversed(model.extension_name_to_prefix)}
    by_name = {one.name: one for one in reversed(tuple(by_prefix.values()))}
    return replace(model, extension_name_to_prefix=tuple(by_name.values()))


def _wrong_at_the_end(kernel: Kernel) -> Kernel:
    def wrong(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
        (result,) = kernel(inputs, outputs)
        result = result.copy()
        result.reshape(-1)[-1] -= 2
        return (result,)

    return wrong


def _without_parameters(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    return (required(inputs[0]).data,)


def _plugin(device: type[ExampleDevice], **kernels: Kernel) -> Plugin:
    def create(context: Context) -> Subject:
        made = device(context, Version(context.options.get("hal", NEWEST.value)))
        for name, kernel in kernels.items():
            add_kernel(operation_code(name), kernel)
        return Subject(device=made)

    return Plugin(manifest, create)


lists_only = _plugin(ListsOnly)
unlisted = _plugin(Unlisted)
other_size = _plugin(OtherSize)
remembers_prefix = _plugin(RemembersPrefix)
last_prefix_wins = _plugin(LastPrefixWins)
takes_any_mapping = _plugin(TakesAnyMapping)
wrong_at_the_end = _plugin(
    ExampleDevice, EXAMPLE_CLAMP=_wrong_at_the_end(clamp), EXAMPLE_REQUANTIZE=_wrong_at_the_end(requantize)
)
ignores_parameters = _plugin(ExampleDevice, EXAMPLE_REQUANTIZE=_without_parameters)
