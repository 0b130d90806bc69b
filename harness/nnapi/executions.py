"""Arguments of a wire request, given to an execution of the NNAPI C API as pointers or by memory objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from npu_conformance.harness.nnapi.errors import require
from npu_conformance.harness.nnapi.models import memory_object
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Operand, Request, RequestArgument


@dataclass
class MemoryObjects:
    """Memory objects of pools, each made when first needed. close frees them."""

    runtime: Runtime
    handles: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def of(self, pool: Memory) -> int:
        """The memory object of a pool; each part of a file has one of its own."""
        part = pool.token, pool.offset, pool.size
        if part not in self.handles:
            self.handles[part] = memory_object(self.runtime, pool)
        return self.handles[part]

    def close(self) -> None:
        """Free all of them."""
        while self.handles:
            self.runtime.memory_free(self.handles.popitem()[1])


def overriding(operand: Operand, argument: RequestArgument) -> OperandDescription | None:
    """The type that an argument is passed with; None where it says nothing that the model does not."""
    dimensions = argument.dimensions
    if not dimensions:
        return None
    return OperandDescription(operand.type, len(dimensions), dimensions, operand.scale, operand.zero_point)


def set_arguments(
    runtime: Runtime, execution: int, model: Model, request: Request, objects: MemoryObjects | None = None
) -> None:
    """Set all inputs and outputs: by pointers into the request's pools, or by memory objects of them where given.

    Raises CallError of the first call that fails.
    """
    main = model.main
    sides = (("input", request.inputs, main.input_indexes), ("output", request.outputs, main.output_indexes))
    for role, arguments, indexes in sides:
        for index, argument in enumerate(arguments):
            known = index < len(indexes)  # one too many is passed too: the runtime has to refuse it
            described = overriding(main.operands[indexes[index]], argument) if known else None
            if argument.has_no_value:
                setter: Callable[..., int] = getattr(runtime, f"execution_set_{role}")
                require(f"execution_set_{role}", setter(execution, index, described, None, 0))
            else:
                _set(runtime, role, execution, index, described, argument, request, objects)


def _set(
    runtime: Runtime,
    role: str,
    execution: int,
    index: int,
    described: OperandDescription | None,
    argument: RequestArgument,
    request: Request,
    objects: MemoryObjects | None,
) -> None:
    pool, place = request.pools[argument.location.pool_index].pool, argument.location
    assert pool is not None, "buffers of a driver's own are not passed by pointer"
    if objects is None:
        name = f"execution_set_{role}"
        where: tuple[object, ...] = (Pointer(pool, place.offset), place.length)
    else:
        name = f"execution_set_{role}_from_memory"
        where = (objects.of(pool), place.offset, place.length)
    setter: Callable[..., int] = getattr(runtime, name)
    require(name, setter(execution, index, described, *where))
