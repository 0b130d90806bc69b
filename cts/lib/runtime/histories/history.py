"""One history while it goes on: compilations, executions and memories that live, and what each of them has to give."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.control_flow_nets import if_net, two_ifs, while_net
from npu_conformance.cts.lib.runtime.histories.places import Cell, Places
from npu_conformance.cts.lib.runtime.net_app import Compiled, NetApp, Options
from npu_conformance.cts.lib.runtime.nets import SQUARE, Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, MIDDLING, SLOW, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import Told
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, ExecutionPreference, OperandType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    BYTE_SIZE_OF_CACHE_TOKEN,
    DurationCode,
    ResultCode,
    RuntimePriority,
)
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_OPERATIONS = ("ADD", "MUL", "SUB")
_HALS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)
_NETS, _MOST_DRIVERS = 3, 3
MOST = 4
"""Of each kind that live at once."""
MATRIX_BYTES = 16
_MOST_ROUNDS = 3
"""Of a WHILE whose counter begins at 0; it ends at 3."""


class Described(msgspec.Struct, eq=False):
    """Memory from a descriptor. roles: compilation, direction, index. content: None where it has none."""

    number: int
    handle: int
    roles: frozenset[tuple[int, str, int]]
    content: bytes | None = None

    def __str__(self) -> str:
        return f"described memory {self.number}"


Where = Cell | Pointer | Described
"""Where an argument lies."""


class Argument(NamedTuple):
    """An input or output of a model. role: which of the two. name: of its operand."""

    role: str
    position: int
    name: str


class Made(msgspec.Struct, eq=False):
    """A compilation.

    number: from 1 on. is_single: for one device by name. sizes: bytes of each argument. burst: that stays open, 0 for
    none.
    """

    number: int
    compiled: Compiled
    is_single: bool
    sizes: dict[str, int]
    burst: int = 0

    @property
    def net(self) -> Net:
        """What it computes."""
        return self.compiled.net

    @property
    def arguments(self) -> list[Argument]:
        """Its arguments, the inputs first."""
        vector = self.net.vector
        sides = (("input", vector.inputs), ("output", vector.outputs))
        return [Argument(role, index, name) for role, names in sides for index, name in enumerate(names)]

    def __str__(self) -> str:
        return f"compilation {self.number}"


class Job(msgspec.Struct, eq=False):
    """An execution with its arguments. inputs: arrays by name. is_measured: times were asked for."""

    made: Made
    handle: int
    inputs: dict[str, Array]
    places: dict[str, Where]
    is_reusable: bool
    is_measured: bool = False

    def __str__(self) -> str:
        places = (f"{name}: {_told(where)}" for name, where in self.places.items())
        return f"an execution of {self.made} over {', '.join(places)}"


def _told(where: Where) -> str:
    return f"the app's own memory at {where.offset}" if isinstance(where, Pointer) else str(where)


class Flight(msgspec.Struct, eq=False):
    """A computation that was started. event: to wait for."""

    job: Job
    event: int


class AppHistory(Told):
    """What one app has done so far."""

    def __init__(self, context: CaseContext, chance: random.Random) -> None:
        """chance: says which drivers and models there are, and where data lie."""
        super().__init__()
        self.is_failing = chance.random() < 0.3
        """Drivers fail now and then, in executions, so that the CPU has to take over (FW-PRT-010)."""
        self.app = _app(context, chance, is_failing=self.is_failing)
        self.devices = self.app.names()
        self.nets = [_net(chance) for _ in range(_NETS)]
        self.models = [self.app.model(net) for net in self.nets]
        self.places = Places(self.app, chance)
        may_cache = self.app.has("compilation_set_caching")
        self.folder = CacheFolder(context).argument if may_cache and chance.random() < 0.3 else ""
        self.compilations: list[Made] = []
        self.kept: list[Job] = []
        """Executions that can be computed again."""
        self.flights: list[Flight] = []
        self.described: list[Described] = []
        self._compiled = self.allocated = 0

    def compile(self, chance: random.Random) -> Made:
        """Compile a model: for all devices with fallback, for some by name, for one."""
        number = chance.randrange(len(self.nets))
        named = [[], []] if self.is_failing else [[], [], self.devices, [chance.choice(self._able(number))]]
        names = chance.choice(named)
        options = Options(
            chance.choice((None, *ExecutionPreference)),
            chance.choice((None, *RuntimePriority)),
            cache=(self.folder, bytes([number]) * BYTE_SIZE_OF_CACHE_TOKEN) if self.folder else None,
        )
        self._compiled += 1
        self.say(f"compile net {number} as compilation {self._compiled} for {', '.join(names) or 'all devices'}")
        model = self.models[number] if chance.random() < 0.7 else 0
        compiled = self.app.compiled(self.nets[number], *names, options=options, model=model)
        made = Made(self._compiled, compiled, len(names) == 1, _sizes(self.nets[number]))
        self.compilations.append(made)
        return made

    def _able(self, number: int) -> list[str]:
        """The devices that support all of a model, such as the CPU."""
        return [name for name in self.devices if all(self.app.supported(self.models[number], name))]

    def expected(self, job: Job) -> dict[str, Array]:
        """What an execution has to give."""
        return job.made.net.expected_of(job.inputs)

    def judge(self, job: Job, result: int, what: str) -> None:
        """See that an execution has succeeded, that its outputs are right, and what it tells of them."""
        with checks.about("FW-EXE-013"):
            self.app.expect(what, result, ResultCode.NO_ERROR)
        expected = self.expected(job)
        found = {name: self._output(job, name, expected[name]) for name in job.made.net.vector.outputs}
        with checks.about("FW-PRT-006"):
            self.app.judge(job.made.net, found, expected)
        self._judge_shapes(job, expected)
        for code in (DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER) if job.is_measured else ():
            with checks.about("FW-EXE-019"):
                self.app.succeed("execution_get_duration", job.handle, int(code), True)

    def _output(self, job: Job, name: str, expected: Array) -> Array:
        import numpy

        where = job.places[name]
        if isinstance(where, Described):
            where.content = expected.tobytes()
            data = self.read(where)
        elif isinstance(where, Cell):
            data = self.places.take(where, expected.nbytes)
        else:
            data = self.app.memory.read(where, expected.nbytes)
        return numpy.frombuffer(data, expected.dtype).reshape(expected.shape)

    def _judge_shapes(self, job: Job, expected: dict[str, Array]) -> None:
        for index, name in enumerate(job.made.net.vector.outputs):
            with checks.about("FW-EXE-017"):
                told = self.app.succeed("execution_get_output_operand_dimensions", job.handle, index, True).values
                checks.equal(tuple(told), expected[name].shape, f"dimensions of output {name}")

    def read(self, memory: Described) -> bytes:
        """What memory from a descriptor holds."""
        target, pool = self.app.shared_memory(MATRIX_BYTES, b"\xa5" * MATRIX_BYTES)
        with checks.about("FW-MEM-006"):
            self.app.succeed("memory_copy", memory.handle, target)
        data = bytes(pool.read(0, MATRIX_BYTES))
        self.app.free(target)
        return data

    def put(self, where: Where, data: bytes) -> None:
        """Store an input where it lies."""
        if isinstance(where, Cell):
            self.places.write(where, data)
        elif isinstance(where, Pointer):
            self.app.memory.write(where, data)
        else:
            source, _ = self.app.shared_memory(len(data), data)
            self.app.succeed("memory_copy", source, where.handle)
            self.app.free(source)
            where.content = data

    def clear(self, where: Where) -> None:
        """Store nothing that was computed where an output goes."""
        if isinstance(where, Cell):
            self.places.clear(where)
        elif isinstance(where, Pointer):
            self.app.memory.write(where, b"\xa5" * MATRIX_BYTES)

    def pointer(self, size: int) -> Pointer:
        """Room in the memory of the app."""
        return place(self.app.memory, b"\xa5" * size)

    def let_go(self, job: Job) -> None:
        """Free an execution, and the cells of its arguments."""
        self.places.busy -= {one for one in job.places.values() if isinstance(one, Cell)}
        self.app.free(job.handle)

    def forget(self, memory: Described) -> None:
        """Free memory from a descriptor of which nothing is known."""
        self.described.remove(memory)
        self.app.free(memory.handle)


def drawn_inputs(net: Net, chance: random.Random) -> dict[str, Array]:
    """The inputs of a net in another order with other signs, another condition or counter: as small as its own."""
    found = {}
    for name, array in net.inputs.items():
        kind = net.vector.operands[name].type
        if kind == OperandType.TENSOR_FLOAT32:
            values = array.reshape(-1).tolist()
            drawn = [chance.choice((-1, 1)) * value for value in chance.sample(values, len(values))]
            found[name] = _array(drawn, array)
        elif kind == OperandType.TENSOR_BOOL8:
            found[name] = _array([chance.randrange(2)], array)
        elif kind == OperandType.TENSOR_INT32 and name == net.vector.inputs[0]:
            found[name] = _array([chance.randrange(_MOST_ROUNDS + 1)], array)
        else:
            found[name] = array
    return found


def _sizes(net: Net) -> dict[str, int]:
    return {name: array.nbytes for name, array in (*net.inputs.items(), *net.expected().items())}


def _array(values: list[float], like: Array) -> Array:
    import numpy

    return numpy.array(values, like.dtype).reshape(like.shape)


def is_matrix(net: Net, name: str) -> bool:
    """True for an operand that memory from a descriptor can hold beside those of other nets."""
    operand = net.vector.operands[name]
    return operand.type == OperandType.TENSOR_FLOAT32 and operand.dimensions == SQUARE


def _app(context: CaseContext, chance: random.Random, *, is_failing: bool) -> NetApp:
    """An app with drivers of chance; with those that the runtime has where nobody can set others."""
    if context.subject.interfaces.runtime_control is None:
        return NetApp(context)
    return ScriptedApp(context, *_drivers(chance, is_failing=is_failing))


def _drivers(chance: random.Random, *, is_failing: bool) -> tuple[DriverScript, ...]:
    """One to three drivers of any version, each with some of the operations or everything, as the CPU has."""
    times = chance.sample((FAST, MIDDLING, SLOW), _MOST_DRIVERS)
    return tuple(
        driver(
            f"driver-{number}",
            *(chance.sample(_OPERATIONS, chance.randint(1, len(_OPERATIONS))) if chance.random() < 0.6 else ()),
            hal=chance.choice(_HALS),
            exec_time=times[number],
            cache_files=NumberOfCacheFiles(1, 1),
            misbehaviours=_failures(chance) if is_failing else chance.choice(((), _LAZY)),
        )
        for number in range(chance.randint(1, _MOST_DRIVERS))
    )


_LAZY = (Misbehaviour("execute", "lazy"),)
"""Fenced executions compute when somebody waits for them: who reads too early reads nothing."""


def _failures(chance: random.Random) -> tuple[Misbehaviour, ...]:
    """Two single executions fail, by the status of the call or of its callback."""
    return tuple(
        Misbehaviour("execute", chance.choice(("status", "callback")), int(ErrorStatus.GENERAL_FAILURE), first, 1)
        for first in (chance.randint(1, 3), chance.randint(5, 9))
    )


def _operations(chance: random.Random, most: int) -> tuple[str, ...]:
    return tuple(chance.choice(_OPERATIONS) for _ in range(chance.randint(1, most)))


def _net(chance: random.Random) -> Net:
    """A chain, a bush of several outputs, or one with IF or WHILE, of few operations."""
    kind = chance.randrange(5)
    if kind == 0:
        return if_net(_operations(chance, 2), _operations(chance, 2), before=_operations(chance, 2))
    if kind == 1:
        return two_ifs(*(_operations(chance, 2) for _ in range(4)))
    if kind == 2:
        return while_net(_operations(chance, 2), before=_operations(chance, 1))
    builder = NetBuilder()
    known = [builder.input(), builder.input()]
    read = set()
    for operation in _operations(chance, 5):
        first, second = chance.choice(known), chance.choice(known[-2:])
        read |= {first, second}
        known.append(builder.binary(operation, first, second))
    return builder.net(*(name for name in known[2:] if name not in read))
