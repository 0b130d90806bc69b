"""Compiles and computes a net over drivers that fail by chance, and judges what comes of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.failing_by_chance import DEAD, EXECUTE, FROM_CACHE, PREPARE, QUERY, Asked, Watch
from npu_conformance.cts.lib.runtime.lasting import Pending, pending
from npu_conformance.cts.lib.runtime.net_app import Compiled, Computed, Options
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.random_nets import supported
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp, names_of
from npu_conformance.cts.lib.runtime.ways import ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    BYTE_SIZE_OF_CACHE_TOKEN,
    MAXIMUM_LOOP_TIMEOUT_NS,
    ResultCode,
)
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_COMPILATIONS, _TURNS = 2, 4
NO_CACHES, _CACHES = NumberOfCacheFiles(0, 0), NumberOfCacheFiles(1, 1)
_TOKEN = bytes(range(BYTE_SIZE_OF_CACHE_TOKEN))


@dataclass(frozen=True)
class Plan:
    """How a net is compiled and computed.

    is_named: for all devices by name, so that nothing falls back. is_asynchronous: drivers of 1.2 and 1.3 are called
    so. is_reusable: one execution computes all.
    """

    is_named: bool
    is_asynchronous: bool
    has_cache: bool
    is_reusable: bool


class FailingRuns:
    """The runs of one net."""

    def __init__(
        self, context: CaseContext, net: Net, scripts: Sequence[DriverScript], plan: Plan, chance: random.Random
    ) -> None:
        if plan.has_cache:
            files = [chance.choice((NO_CACHES, _CACHES, _CACHES)) for _ in scripts]
            scripts = [replace(script, cache_files=wanted) for script, wanted in zip(scripts, files, strict=True)]
        self._app = ScriptedApp(context, *scripts)
        self._net, self._plan, self._chance = net, plan, chance
        self._watches = [Watch(self._app.known(script)) for script in scripts]
        cache = (CacheFolder(context).argument, _TOKEN) if plan.has_cache else None
        self._options = Options(cache=cache)
        self._cached: dict[str, set[bytes]] = {}
        self._has_died = False
        if plan.is_asynchronous:
            self._app.control.set_property("debug.nn.syncexec-hal", "0")

    def run(self) -> None:
        """Compile several times, and compute each time that succeeds."""
        devices = self._app.names() if self._plan.is_named and not self._net.is_open else ()
        model = self._app.model(self._net)
        for _ in range(_COMPILATIONS):
            compiled = self._app.compile(self._net, *devices, options=self._options, model=model)
            self._judge_compilation(compiled, self._news(), is_named=bool(devices))
            if compiled.result == ResultCode.NO_ERROR:
                self._compute_all(compiled, is_named=bool(devices))

    def _news(self) -> list[list[Asked]]:
        """What each driver was asked since this was asked last. One that died need not be asked to be known dead."""
        found = [watch.new(self._app.calls(watch.script.name)) for watch in self._watches]
        self._has_died = self._has_died or any(one.died for calls in found for one in calls)
        return found

    @property
    def _deaths(self) -> tuple[ResultCode, ...]:
        return DEAD if self._has_died else ()

    # Compilations

    def _judge_compilation(self, compiled: Compiled, asked: list[list[Asked]], *, is_named: bool) -> None:
        failed = [code for calls in asked for one in calls if one.method == PREPARE for code in one.codes()]
        if not is_named or not failed:
            with checks.about("FW-PRT-009"):
                self._app.expect("compilation_finish", compiled.result, 0, *(self._deaths if is_named else ()))
        else:
            with checks.about("FW-PRT-011"):
                # A driver that died is asked once more, and may do it then.
                self._app.expect("compilation_finish", compiled.result, *failed, *((0,) if self._has_died else ()))
        for watch, calls in zip(self._watches, asked, strict=True):
            if self._has_caches(watch.script):
                known = self._cached.setdefault(watch.script.name, set())
                judge_caches([one for one in calls if one.method in (PREPARE, FROM_CACHE)], known)
        if not failed and not self._has_died and not self._plan.has_cache:
            self._judge_choice(asked)

    def _has_caches(self, script: DriverScript) -> bool:
        return self._plan.has_cache and script.hal >= Version.V1_2 and script.cache_files != NO_CACHES

    def _judge_choice(self, asked: list[list[Asked]]) -> None:
        """Each operation is the best driver's of those that said they can; whoever failed to say so cannot."""
        operations = self._net.wire.main.operations
        if self._net.is_open or not _is_plain(self._net):
            return
        answers = [_answered(watch.script, self._net, calls) for watch, calls in zip(self._watches, asked, strict=True)]
        if None in answers:
            return
        for number, (watch, calls) in enumerate(zip(self._watches, asked, strict=True)):
            best = [index for index in range(len(operations)) if self._best(answers, index) == number]
            models = [one.call.model for one in calls if one.method == PREPARE and one.call.model is not None]
            found = sorted(name for model in models for name in names_of(model.main.operations))
            with checks.about("FW-PRT-001"):
                expected = sorted(names_of([operations[index] for index in best]))
                checks.equal(found, expected, f"operations given to {watch.script.name}")

    def _best(self, answers: Sequence[tuple[bool, ...] | None], index: int) -> int:
        """The number of the driver with the lowest cost, the first of equal ones; -1 for the CPU, which wins at 1."""
        costs = [
            (watch.script.exec_time, number)
            for number, (watch, answer) in enumerate(zip(self._watches, answers, strict=True))
            if answer is not None and answer[index] and watch.script.exec_time < 1
        ]
        return min(costs)[1] if costs else -1

    # Executions

    def _compute_all(self, compiled: Compiled, *, is_named: bool) -> None:
        """Compute by ways of chance, with inputs that differ, over one burst."""
        app = self._app
        choices = ("compute",) if self._net.is_open else ways(app.level)
        choices += (self._chance.choice(choices),) * len(choices)  # one way is taken again and again
        burst = app.made("burst_create", compiled.handle, True)
        lasting = self._in_memories(compiled) if self._plan.is_reusable and app.level.is_aidl else None
        if lasting is not None:
            app.succeed("execution_set_reusable", lasting.execution, True)
        for turn in range(_TURNS):
            way, inputs = self._chance.choice(choices), _turned(self._net, turn)
            made = lasting or (self._in_memories(compiled) if turn % 2 else None)
            if made is None:
                computed = self._behind_pointers(compiled, inputs)
                app.take(compiled, computed, self._run(compiled, computed.handle, way, burst))
                result, check = computed.result, partial(self._judge_arrays, computed, inputs)
            else:
                made.fill(inputs)
                result, check = self._run(compiled, made.execution, way, burst), partial(made.check, inputs)
            asked = [one for calls in self._news() for one in calls if one.method == EXECUTE]
            self._judge_execution(way, result, asked, is_named=is_named)
            if result == ResultCode.NO_ERROR:
                check()

    def _behind_pointers(self, compiled: Compiled, inputs: dict[str, Array]) -> Computed:
        computed = self._app.prepared_execution(compiled, inputs)
        self._be_patient(computed.handle)
        return computed

    def _in_memories(self, compiled: Compiled) -> Pending | None:
        if self._net.is_open:
            return None
        made = pending(self._app, compiled)
        self._be_patient(made.execution)
        return made

    def _be_patient(self, execution: int) -> None:
        """Give loops time on a busy machine; without loops bursts of HIDL are as good as others."""
        if self._net.vector.referenced:
            self._app.succeed("execution_set_loop_timeout", execution, MAXIMUM_LOOP_TIMEOUT_NS)

    def _run(self, compiled: Compiled, execution: int, way: str, burst: int) -> int:
        if way == "burst":
            return int(self._app.call("execution_burst_compute", execution, burst))
        return self._app.run(compiled, execution, way)

    def _judge_arrays(self, computed: Computed, inputs: dict[str, Array]) -> None:
        self._app.judge(self._net, computed.outputs, self._net.expected_of(inputs))

    def _judge_execution(self, way: str, result: int, asked: list[Asked], *, is_named: bool) -> None:
        """What failed behind fences nobody makes up for; a burst that failed may be done without."""
        codes = [code for one in asked for code in one.codes()]
        is_late = any(one.fails_later for one in asked)
        if not codes or not (is_named or is_late):
            with checks.about("FW-PRT-010", "FW-PRT-006"):
                self._app.expect(f"execution ({way})", result, 0, *(self._deaths if is_named else ()))
        elif is_named and is_late:
            with checks.about("FW-PRT-011"):
                checks.that(result != ResultCode.NO_ERROR, f"execution ({way}): expected a failure, as its driver's")
        elif is_named:
            with checks.about("FW-PRT-011"):
                self._app.expect(f"execution ({way})", result, *codes, *self._deaths, *((0,) if way == "burst" else ()))


def _turned(net: Net, turn: int) -> dict[str, Array]:
    """The inputs of a turn: in every second one matrices have the other sign, and in the middle of four truth turns."""
    kinds = {name: net.vector.operands[name].type for name in net.vector.inputs}
    found = dict(net.inputs)
    for name, kind in kinds.items():
        if kind == OperandType.TENSOR_FLOAT32 and turn % 2:
            found[name] = -found[name]
        elif kind == OperandType.TENSOR_BOOL8 and turn % _TURNS in (1, 2):
            found[name] = (found[name] == 0).astype(found[name].dtype)
    return found


def _is_plain(net: Net) -> bool:
    """Whether somebody reads each result, and there is no IF or WHILE."""
    operations = net.vector.operations
    read = {name for one in operations for name in one.inputs} | set(net.vector.outputs)
    return not net.vector.referenced and all(read.issuperset(one.outputs) for one in operations)


def _answered(script: DriverScript, net: Net, calls: Sequence[Asked]) -> tuple[bool, ...] | None:
    """What a driver has said that it supports; None where it failed and was asked again."""
    failed = {bool(one.codes()) for one in calls if one.method == QUERY}
    if failed == {True}:
        return (False,) * len(net.wire.main.operations)
    return None if True in failed else supported(script, net)


def judge_caches(calls: Sequence[Asked], known: set[bytes]) -> None:
    """A cache that is there is tried, and where it fails the model is prepared with its files and token.

    known: tokens with which the driver has prepared models well; grows.
    """
    tried: dict[bytes, bool] = {}
    for one in calls:
        token, is_well = one.call.token, not one.codes()
        if one.method == FROM_CACHE:
            tried[token] = is_well
            continue
        with checks.about("FW-CAC-003"):
            checks.that(token in tried or token not in known, "a model that is cached: expected prepareModelFromCache")
            checks.equal((one.call.model_cache, one.call.data_cache), (1, 1), "cache files of a preparation")
        tried[token] = True  # also where the driver dies in it, and is asked once more
        if is_well:
            known.add(token)
    with checks.about("FW-CAC-003"):
        checks.that(all(tried.values()), "a cache that was refused: expected prepareModel with the same token")
