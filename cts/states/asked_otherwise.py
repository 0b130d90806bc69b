"""The same model compiled again, and the same compilation executed again, with another option: the new one counts.

What another object of the app has said, before or behind, reaches no driver in its place, nor does what was said and
then left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.net_app import Compiled, Options
from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, RuntimePriority
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.asked_otherwise", interface="runtime", group=Group.RUNTIME_EXECUTIONS, since=Version.V1_3)

_HOUR, _SECOND = 3600 * 10**9, 10**9
_NO_TOKEN = bytes(BYTE_SIZE_OF_CACHE_TOKEN)
_WAYS = ("compute", "asynchronous", "burst", "fenced")
_HALS = (Version.V1_3, Version.FL8)


class _Told(msgspec.Struct, frozen=True):
    """What a driver is told in a preparation. token: the last byte of it where the app cached, else 0."""

    preference: int = ExecutionPreference.FAST_SINGLE_ANSWER
    priority: int = Priority.MEDIUM
    has_deadline: bool = False
    token: int = 0


_COMPILATIONS: Mapping[str, _Told] = {
    "nothing": _Told(),
    "low_power": _Told(preference=ExecutionPreference.LOW_POWER),
    "sustained": _Told(preference=ExecutionPreference.SUSTAINED_SPEED),
    "high": _Told(priority=Priority.HIGH),
    "low": _Told(priority=Priority.LOW),
    "timeout": _Told(has_deadline=True),
    "cache": _Told(token=1),
    "another_cache": _Told(token=2),
}
_PRIORITIES = {
    Priority.LOW: RuntimePriority.LOW,
    Priority.MEDIUM: RuntimePriority.MEDIUM,
    Priority.HIGH: RuntimePriority.HIGH,
}


@cases.case("compilations", "FW-CMP-004", "FW-CMP-006", "FW-CAC-004", "FW-QOS-001", group=Group.RUNTIME_COMPILATIONS)
def compilations(context: CaseContext) -> None:
    """Of two compilations of one model each tells the driver its own, whether the first lives or is freed by then."""
    lives = itertools.cycle((True, False))
    for hal, (one, two) in itertools.product(_HALS, itertools.permutations(_COMPILATIONS, 2)):
        with context.configuration(f"{hal.name.lower()}.{one}.{two}"), context.short_lived():
            script = driver("one", hal=hal, exec_time=FAST, cache_files=NumberOfCacheFiles(1, 1))
            app = ScriptedApp(context, script)
            _judge_compilations(app, (_COMPILATIONS[one], _COMPILATIONS[two]), lives=next(lives))
            app.close()


def _judge_compilations(app: ScriptedApp, wanted: Sequence[_Told], *, lives: bool) -> None:
    net, folder = add(), CacheFolder(app.context).argument
    model, tokens = app.model(net), set()
    for number, told in enumerate(wanted):
        compiled = app.compiled(net, "one", options=_options(told, folder), model=model)
        calls = app.calls("one", "prepare_model")
        checks.equal(len(calls), number + 1, "preparations by the driver")
        checks.equal(_told(calls[-1]), replace(told, token=min(told.token, 1)), "what the driver is told")
        app.computes_rightly(compiled)
        tokens.add(calls[-1].token)
        if not lives:
            app.free(compiled.handle)
    expected = len({told.token for told in wanted})
    checks.equal(len(tokens), expected, "different tokens that the driver is told")


def _options(told: _Told, folder: str) -> Options:
    """What the app says; nothing of what is as by default."""
    usual = _Told()
    return Options(
        preference=told.preference if told.preference != usual.preference else None,
        priority=_PRIORITIES[Priority(told.priority)] if told.priority != usual.priority else None,
        timeout_ns=_HOUR if told.has_deadline else None,
        cache=(folder, _NO_TOKEN[1:] + bytes([told.token])) if told.token else None,
    )


def _told(call: DriverCall) -> _Told:
    """What it was told. token: 1 for any, since drivers get hashes of the app's."""
    return _Told(call.preference, call.priority, _is_deadline(call.deadline_ns), int(any(call.token)))


def _is_deadline(deadline_ns: int) -> bool:
    return 0 < deadline_ns < 2**63


class _Asked(msgspec.Struct, frozen=True):
    """What a driver is asked in an execution."""

    measures: bool = False
    has_deadline: bool = False
    loop_timeout_ns: int = 0


_EXECUTIONS: Mapping[str, _Asked] = {
    "nothing": _Asked(),
    "measured": _Asked(measures=True),
    "timeout": _Asked(has_deadline=True),
    "loops": _Asked(loop_timeout_ns=5 * _SECOND),
    "longer_loops": _Asked(loop_timeout_ns=9 * _SECOND),
}
_LOOPS = (5 * _SECOND, 9 * _SECOND)
"""Who says nothing may be told the default, or none."""


@cases.case("executions", "FW-QOS-001", "FW-QOS-003")
def executions(context: CaseContext) -> None:
    """Of two executions of one compilation each tells the driver its own, in each way, over one burst too."""
    for hal in _HALS:
        script = driver("one", hal=hal, exec_time=FAST)
        app = ScriptedApp(context, script)
        compiled = app.compiled(add(), "one")
        burst = app.made("burst_create", compiled.handle, True)
        for way in _WAYS:
            if way == "burst" and not app.known(script).hal.is_aidl:  # whose packets have no place for it
                continue
            for pair in itertools.permutations(_EXECUTIONS, 2):
                with context.configuration(f"{hal.name.lower()}.{way}.{'.'.join(pair)}"), context.short_lived():
                    for name in pair:
                        _judge_execution(app, compiled, way, burst, _EXECUTIONS[name])
        app.close()


def _judge_execution(app: ScriptedApp, compiled: Compiled, way: str, burst: int, asked: _Asked) -> None:
    before = len(app.executions("one"))
    computed = app.prepared_execution(compiled)
    if asked.measures:
        app.succeed("execution_set_measure_timing", computed.handle, True)
    if asked.has_deadline:
        app.succeed("execution_set_timeout", computed.handle, _HOUR)
    if asked.loop_timeout_ns:
        app.succeed("execution_set_loop_timeout", computed.handle, asked.loop_timeout_ns)
    if way == "burst":
        app.take(compiled, computed, int(app.call("execution_burst_compute", computed.handle, burst)))
    else:
        app.finish(compiled, computed, way)
    app.expect(f"execution ({way})", computed.result)
    call = app.executed_once("one", before)
    loops = call.loop_timeout_ns if call.loop_timeout_ns in _LOOPS else 0
    found = _Asked(call.measure_timing, _is_deadline(call.deadline_ns), loops)
    checks.equal(found, asked, f"what the driver is asked ({way})")
