"""An app of a runtime whose drivers the case has written: compiles nets, computes them, and reads what drivers got.

Everything a case made is freed, and the runtime gets its own drivers back, when the case ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime import ways
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import check_output
from npu_conformance.harness.judge.tolerance import Circumstances
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall, DriverScript, RuntimeControl
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.versions import HIDL_LAST

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


class ScriptedApp(RuntimeApp):
    """An app of the runtime under test, with drivers of the case's own. NotApplicable where nobody can set them."""

    def __init__(self, context: CaseContext, *scripts: DriverScript) -> None:
        self.control: RuntimeControl = context.present(context.subject.interfaces.runtime_control, "runtime_control")
        context.close_later(_Reset(self.control))
        super().__init__(context)
        self.driver_names = tuple(script.name for script in scripts)
        self.control.set_drivers(tuple(map(self.known, scripts)))

    def known(self, script: DriverScript) -> DriverScript:
        """A script as this runtime can have it: one of feature level 4 or less knows no AIDL."""
        return script if self.level.is_aidl else replace(script, hal=min(script.hal, HIDL_LAST))

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

    # Compilations

    def compile(self, net: Net, *devices: str, options: Options | None = None, model: int = 0) -> Compiled:
        """Compile a net, for devices alone where any are named. model: where it is built already."""
        compilation = self.compilation(model or self.model(net), self.named(*devices) if devices else ())
        self._configure(compilation, options or Options())
        return Compiled(net, compilation, self.call("compilation_finish", compilation))

    def compiled(self, net: Net, *devices: str, options: Options | None = None, model: int = 0) -> Compiled:
        """Compile a net, which has to succeed. model: where it is built already."""
        compiled = self.compile(net, *devices, options=options, model=model)
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

    # What drivers were asked

    def calls(self, name: str, method: str = "") -> list[DriverCall]:
        """Calls that a driver got, in order; of methods whose names begin so."""
        return [call for call in self.control.driver_calls(name) if call.method.startswith(method)]

    def executions(self, name: str) -> list[DriverCall]:
        """Executions that a driver was asked for, in every way."""
        return [call for call in self.control.driver_calls(name) if "execute" in call.method]

    def prepared(self, name: str) -> list[Model]:
        """The models that a driver was told to prepare."""
        return [call.model for call in self.calls(name, "prepare_model") if call.model is not None]

    def prepared_once(self, name: str) -> Model:
        """The one model that a driver was told to prepare; fails where there is none, or more than one."""
        return checks.single(self.prepared(name), f"models that driver {name} was told to prepare")

    def prepared_with(self, name: str, operation: OperationType) -> Model:
        """The one model with an operation in its main graph that a driver was told to prepare; fails as above."""
        found = [model for model in self.prepared(name) if operation in {one.type for one in model.main.operations}]
        return checks.single(found, f"models with {operation.name} that driver {name} was told to prepare")

    def called_once(self, name: str, method: str) -> DriverCall:
        """The one call of such methods that a driver got; fails where there is none, or more than one."""
        return checks.single(self.calls(name, method), f"calls of {method} to driver {name}")

    def executed_once(self, name: str, behind: int = 0) -> DriverCall:
        """The one execution that a driver was asked for, behind the first so many; fails otherwise."""
        return checks.single(self.executions(name)[behind:], f"executions that driver {name} was asked for")

    def operations(self, name: str) -> list[str]:
        """The names of the operations of all models that a driver was told to prepare, sorted."""
        return sorted(name for model in self.prepared(name) for name in names_of(model.main.operations))

    def gets(self, **operations: Sequence[str]) -> None:
        """Check which operations each driver was given; in any order, in as many models as the runtime likes."""
        for name, expected in operations.items():
            checks.equal(self.operations(name), sorted(expected), f"operations given to driver {name}")


class _Reset:
    def __init__(self, control: RuntimeControl) -> None:
        self._control = control

    def close(self) -> None:
        """Give the runtime its own drivers, properties and process back."""
        self._control.reset()


def names_of(operations: Sequence[Operation]) -> list[str]:
    """Names of operations; the number where it has none."""
    known = set(OperationType)
    return [OperationType(each.type).name if each.type in known else str(each.type) for each in operations]


def _bytes(net: Net, name: str) -> int:
    import numpy

    operand = net.vector.operands[name]
    size = OPERAND_TYPES[operand.type].size
    return max(int(numpy.prod(operand.dimensions)) * size if operand.dimensions else size, 1)


def _described(net: Net, name: str, array: Array) -> OperandDescription:
    operand = net.vector.operands[name]
    return OperandDescription(int(operand.type), array.ndim, array.shape, operand.scale, operand.zero_point)
