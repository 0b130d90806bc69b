"""Drivers that die again and again, in random calls, and are back at once: each life is like the first.

Some have a model alone, others two of its parts; some cache it. What was prepared in a life ends with it: nobody makes
it new, from a cache or otherwise, but the app (FW-VER-006).
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.cache_model import DEATHS, FROM_CACHE, PREPARE, Numbered
from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.memories import Role, described
from npu_conformance.cts.lib.runtime.net_app import Compiled, Options
from npu_conformance.cts.lib.runtime.nets import Net, add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.cts.lib.runtime.ways import ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, ResultCode
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

_AREA = "cts.failing_drivers.lives"
_SEEDS = 16
_EPISODES = 6
_EXECUTE = "execute"
_DEVICE = ("get_supported_operations", 12), (PREPARE, 8), (FROM_CACHE, 6)
_PREPARED_MODEL = ((_EXECUTE, 12),)
"""Methods in which drivers die, with how many calls may be reached. One driver dies in those of one of the two: a call
that finds a process dead, and the next one dying, may fail."""
_HALS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)
_DEAD = (ResultCode.DEAD_OBJECT, ResultCode.OP_FAILED)
"""Before feature level 5 a death in an execution is no code of its own."""
_BYTES = 16
"""Of a matrix."""
_TOKEN = bytes(BYTE_SIZE_OF_CACHE_TOKEN - 1) + b"\1"


def cases() -> Iterator[Case]:
    """One case for each seed."""
    for seed in range(_SEEDS):
        yield Case(
            f"{_AREA}.seed_{seed}",
            functools.partial(_run, seed=seed),
            ("FW-VER-003", "FW-VER-006", "FW-PRT-007", "FW-CAC-003", "FW-MEM-005"),
            f"The deaths of seed {seed}: a device is asked again, a prepared model is not used again.",
            "runtime",
            since=Version.V1_2,
        )


def _run(context: CaseContext, seed: int) -> None:
    """In every second seed the device dies, in the others prepared models; half of the models are in parts."""
    _Lives(context, random.Random(seed), _DEVICE if seed % 2 == 0 else _PREPARED_MODEL, seed // 2).run()


class _Lives:
    """The lives of a driver. kind: which version it has, and whether it has caches and parts."""

    def __init__(
        self, context: CaseContext, chance: random.Random, methods: tuple[tuple[str, int], ...], kind: int
    ) -> None:
        self._chance, has_cache = chance, kind % 8 in (1, 2, 3, 6)
        deaths = tuple(
            Misbehaviour(
                method, "dies" if method == _EXECUTE else chance.choice(DEATHS[: _kinds(method)]), first=number, count=1
            )
            for method, most in methods
            for number in _numbers(chance, most)
        )
        net = chain("ADD", "MUL", "ADD") if kind % 8 >= 4 else add()
        files = NumberOfCacheFiles(1, 1) if has_cache else NumberOfCacheFiles(0, 0)
        mortal = driver(
            "mortal", "ADD", hal=_HALS[kind % len(_HALS)], exec_time=FAST, restarts=True, cache_files=files,
            misbehaviours=deaths,
        )  # fmt: skip
        self._app = app = ScriptedApp(context, mortal, driver("other", "MUL", exec_time=FAST))
        self._net, self._watch = net, Numbered(app.known(mortal))
        self._options = Options(cache=(CacheFolder(context).argument, _TOKEN) if has_cache else None)
        self._ways = ways(app.level)

    def run(self) -> None:
        """Ask, compile and compute, several times."""
        app = self._app
        model = app.model(self._net)
        expected = tuple(name == "ADD" for name in _names(self._net))
        for _ in range(_EPISODES):
            for _ in range(self._chance.randrange(3)):
                checks.equal(app.supported(model, "mortal"), expected, "operations that the driver supports")
            compiled = app.compile(self._net, "mortal", "other", CPU, options=self._options, model=model)
            app.expect("compilation_finish", compiled.result)
            asked = self._watch.new(app.calls("mortal"))
            ends = [place for place, one in enumerate(asked) if one.has_died]
            self._compute(compiled, self._chance.randrange(4), is_dead=bool(ends) and ends[-1] > 0)

    def _compute(self, compiled: Compiled, times: int, *, is_dead: bool) -> None:
        """Compute until the driver dies; from then on the compilation is of no use. is_dead: it is of none at once."""
        app, memory = self._app, self._memory(compiled)
        burst = app.made("burst_create", compiled.handle, True)
        for _ in range(times):
            way, seen = self._chance.choice(self._ways), len(app.executions("mortal"))
            for output in memory.values():
                app.succeed("memory_copy", app.shared_memory(_BYTES, bytes(_BYTES))[0], output)
            computed = app.prepared_execution(compiled, memories=memory)
            if way == "burst":
                app.take(compiled, computed, int(app.call("execution_burst_compute", computed.handle, burst)))
            else:
                app.finish(compiled, computed, way)
            with checks.about("FW-VER-006"):
                checks.equal(self._watch.new(app.calls("mortal")), [], "preparations that nobody has asked for")
            is_dead = is_dead or any(call.status for call in app.executions("mortal")[seen:])
            app.expect(f"execution ({way})", computed.result, *(_DEAD if is_dead else (0,)))
            app.judge(compiled.net, computed.outputs, compiled.net.expected())
            for name, output in memory.items():
                self._judge_memory(name, output, is_written=not is_dead)

    def _memory(self, compiled: Compiled) -> dict[str, int]:
        """Memory from a descriptor for the output, every second time; where the runtime gives it."""
        if self._app.level < Version.V1_3 or self._chance.random() < 0.5:
            return {}
        memory = described(self._app, (Role("output", compiled.handle, 0),))
        return {} if memory is None else {compiled.net.vector.outputs[0]: memory}

    @checks.about("FW-MEM-005")
    def _judge_memory(self, name: str, memory: int, *, is_written: bool) -> None:
        """What was computed is there; after a failure nothing is, whatever was there before."""
        target, pool = self._app.shared_memory(_BYTES)
        if not is_written:
            self._app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
            return
        self._app.succeed("memory_copy", memory, target)
        checks.equal(pool.read(0, _BYTES), self._net.expected()[name].tobytes(), "bytes of the output")


def _names(net: Net) -> list[str]:
    return [operation.type for operation in net.vector.operations]


def _kinds(method: str) -> int:
    """How many kinds of death a method has: what has no callback ends at once."""
    return len(DEATHS) if method in (PREPARE, FROM_CACHE) else 1


def _numbers(chance: random.Random, most: int) -> list[int]:
    """Which calls end a life. No two in a row: a second death is not forgiven (FW-VER-003)."""
    numbers = []
    last = 0
    while (last := last + chance.randint(2, 4)) <= most:
        numbers.append(last)
    return numbers
