"""An app that compiles nets and computes them: whoever computes what, the outputs are those of the oracles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from npu_conformance.cts.lib.runtime import ways
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import check_output
from npu_conformance.harness.judge.tolerance import Circumstances
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_SPARE = 256
"""Bytes for an output whose size the model leaves open."""

_LARGEST_RANK = 32
"""More than any model here has, and what numpy can hold."""


@dataclass(frozen=True)
class Options:
    """What an app says about a compilation beside its devices; None: nothing. token: with the folder of the cache."""

    preference: int | None = None
    priority: int | None = None
    timeout_ns: int | None = None
    cache: tuple[str, bytes] | None = None


@dataclass
class Compiled:
    """A compilation of a net. result: what finish returned."""

    net: Net
    handle: int
    result: int


@dataclass
class Computed:
    """An execution that is over. places: each output's name, where it goes, and the bytes there.

    outputs: arrays by name, where it succeeded.
    """

    handle: int
    result: int
    places: tuple[tuple[str, Pointer, int], ...] = ()
    outputs: dict[str, Array] = field(default_factory=dict)


class NetApp(RuntimeApp):
    """An app of the runtime under test, with the drivers that it has."""

    # Devices

    def names(self) -> list[str]:
        """The names of all devices, in order."""
        return [name for name, _ in self._named_devices()]

    def _named_devices(self) -> list[tuple[str, int]]:
        return [(self.succeed("device_get_name", device, True).value, device) for device in self.devices()]

    def named(self, *names: str) -> tuple[int, ...]:
        """The handles of devices; fails where one is not offered."""
        found = dict(self._named_devices())
        for name in names:
            checks.member(name, found, "devices")
        return tuple(found[name] for name in names)

    # Models

    def model(self, net: Net) -> int:
        """Build and finish the model of a net."""
        return self.built(net.wire)

    def supported(self, model: int, *devices: str) -> tuple[bool, ...]:
        """Which operations at least one of the devices supports."""
        function = "model_get_supported_operations_for_devices"
        answers: tuple[bool, ...] = self.succeed(function, model, self.named(*devices), True).values
        return answers

    def able(self, *nets: Net) -> dict[str, tuple[str]]:
        """The devices that support nets whole, by names that configurations can have."""
        models = [self.model(net) for net in nets]
        return {
            f"device{number}": (name,)
            for number, name in enumerate(self.names())
            if all(all(self.supported(model, name)) for model in models)
        }

    # Compilations

    def compile(self, net: Net, *devices: str, options: Options | None = None, model: int = 0) -> Compiled:
        """Compile a net, for devices alone where any are named. model: where it is built already."""
        compilation = self.compilation(model or self.model(net), self.named(*devices) if devices else ())
        self._configure(compilation, options or Options())
        return Compiled(net, compilation, self.call("compilation_finish", compilation))

    def compiled(self, net: Net, *devices: str, options: Options | None = None, model: int = 0) -> Compiled:
        """Compile a net, which has to succeed. model: where it is built already."""
        compiled = self.compile(net, *devices, options=options, model=model)
        self.needs_room("compilation_finish", compiled.result)
        self.expect("compilation_finish", compiled.result)
        return compiled

    def _configure(self, compilation: int, options: Options) -> None:
        if options.preference is not None:
            self.succeed("compilation_set_preference", compilation, options.preference)
        if options.priority is not None:
            self.succeed("compilation_set_priority", compilation, options.priority)
        if options.timeout_ns is not None:
            self.succeed("compilation_set_timeout", compilation, options.timeout_ns)
        if options.cache is not None:
            self.succeed("compilation_set_caching", compilation, *options.cache)

    # Executions

    def prepared_execution(
        self,
        compiled: Compiled,
        inputs: Mapping[str, Array] | None = None,
        *,
        rooms: Mapping[str, int] | None = None,
        memories: Mapping[str, int] | None = None,
    ) -> Computed:
        """An execution with its arguments set and nothing computed.

        inputs: in place of the net's own. rooms: bytes of outputs that are not given what they need. memories: of
        what lies in memory from a descriptor, to which inputs are copied first.
        """
        vector = compiled.net.vector
        handle = self.execution(compiled.handle)
        for index, name in enumerate(vector.inputs):
            array = (inputs or compiled.net.inputs)[name]
            if memories and name in memories:
                self._in_memory(handle, index, array.tobytes(), memories[name])
                continue
            described = _described(compiled.net, name, array) if vector.operands[name].is_open else None
            pointer = place(self.memory, array.tobytes())
            self.succeed("execution_set_input", handle, index, described, pointer, array.nbytes)
        places = []
        for index, name in enumerate(vector.outputs):
            if memories and name in memories:
                self.succeed("execution_set_output_from_memory", handle, index, None, memories[name], 0, 0)
            else:
                places.append(self._output(compiled.net, handle, name, (rooms or {}).get(name, 0)))
        return Computed(handle, ResultCode.INCOMPLETE, tuple(places))

    def _in_memory(self, execution: int, index: int, content: bytes, memory: int) -> None:
        source, _ = self.shared_memory(len(content), content)
        self.succeed("memory_copy", source, memory)
        self.succeed("execution_set_input_from_memory", execution, index, None, memory, 0, 0)

    def _output(self, net: Net, execution: int, name: str, room: int) -> tuple[str, Pointer, int]:
        operand = net.vector.operands[name]
        size = room or (_SPARE if operand.is_open else _bytes(net, name))
        pointer = place(self.memory, b"\xa5" * size)
        self.succeed("execution_set_output", execution, net.vector.outputs.index(name), None, pointer, size)
        return name, pointer, size

    def compute_net(
        self, compiled: Compiled, inputs: Mapping[str, Array] | None = None, way: str = "compute"
    ) -> Computed:
        """Compute; outputs are read where it succeeds. way: one of ways.WAYS."""
        computed = self.prepared_execution(compiled, inputs)
        self.finish(compiled, computed, way)
        return computed

    def finish(self, compiled: Compiled, computed: Computed, way: str) -> None:
        """Compute an execution that has its arguments, and read its outputs where that succeeds."""
        self.take(compiled, computed, self.run(compiled, computed.handle, way))

    def take(self, compiled: Compiled, computed: Computed, result: int) -> None:
        """Note how an execution has ended, and read its outputs where it succeeded."""
        computed.result = result
        if result == ResultCode.NO_ERROR:
            for name, pointer, room in computed.places:
                computed.outputs[name] = self._read(compiled.net, computed.handle, name, pointer, room)

    def run(self, compiled: Compiled, execution: int, way: str) -> int:
        """Compute an execution that has its arguments; returns the code."""
        return ways.compute(self, way, execution, compiled.handle)

    def _read(self, net: Net, execution: int, name: str, pointer: Pointer, room: int) -> Array:
        """The array of an output; fails where the shape that the runtime tells cannot be that of what is there."""
        import numpy

        index = net.vector.outputs.index(name)
        rank = self.succeed("execution_get_output_operand_rank", execution, index, True).value
        shape = self.succeed("execution_get_output_operand_dimensions", execution, index, True).values if rank else ()
        dtype = numpy.dtype(OPERAND_TYPES[net.vector.operands[name].type].dtype)
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size > room or len(shape) > _LARGEST_RANK:
            checks.fail(f"dimensions of output {name}", f"at most {room} bytes", f"{shape}, of {size} bytes")
        return numpy.frombuffer(self.memory.read(pointer, size), dtype).reshape(shape)

    def computes_rightly(self, compiled: Compiled, way: str = "compute") -> Computed:
        """Compute, which has to succeed with the values that the oracles find."""
        computed = self.compute_net(compiled, way=way)
        self.expect(f"execution ({way})", computed.result)
        self.judge(compiled.net, computed.outputs, compiled.net.expected())
        return computed

    def judge(self, net: Net, outputs: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
        """Compare outputs with what the oracles find, within the public tolerances."""
        circumstances = Circumstances(relaxed=net.vector.relaxed)
        for name, array in outputs.items():
            kind = net.vector.operands[name].type
            check_output(self.context, f"output {name}", array, expected[name], kind, circumstances)


def _bytes(net: Net, name: str) -> int:
    import numpy

    operand = net.vector.operands[name]
    size = OPERAND_TYPES[operand.type].size
    return max(int(numpy.prod(operand.dimensions)) * size if operand.dimensions else size, 1)


def _described(net: Net, name: str, array: Array) -> OperandDescription:
    operand = net.vector.operands[name]
    return OperandDescription(int(operand.type), array.ndim, array.shape, operand.scale, operand.zero_point)
