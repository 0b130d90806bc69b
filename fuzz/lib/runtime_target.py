"""The target whose inputs are histories of calls of the NNAPI C API, legal and illegal.

The model of the API says what each call has to return (harness/judge/api_model.py, api_executions.py); what it leaves
open is not called. Handles that are none are passed only to a runtime that promises to check them.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from npu_conformance.fuzz.lib.findings import Found, Kind, kind_of, where_of
from npu_conformance.fuzz.lib.histories import HistoryTarget
from npu_conformance.fuzz.lib.runtime_steps import SEEDS, Step, calls_of, histories, perform
from npu_conformance.harness.judge.api_model import Required
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung, NotApplicable, Refused
from npu_conformance.harness.nnapi.app import App
from npu_conformance.harness.nnapi.caller_memory import PooledMemory
from npu_conformance.harness.nnapi.errors import name_of
from npu_conformance.harness.nnapi.machine import ApiMachine, WrongValue
from npu_conformance.harness.subject import private_directory
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


class RuntimeTarget(HistoryTarget[Step]):
    """Inputs are histories. See Target."""

    name = "runtime"

    def __init__(self, subject: SubjectHandle) -> None:
        super().__init__(subject, histories, SEEDS)
        folder = private_directory.for_temporary_files()
        weakref.finalize(self, folder.close)
        self._folder = folder.path

    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        app = FuzzedApp(self._subject, f"{self._folder}/")
        try:
            seen = _play(app, steps)
        except (Crashed, Hung):
            app.forget()
            raise
        except Exception:
            with suppress(InterfaceError, CaseEnded):  # the finding is what came before
                app.close()
            raise
        app.close()
        return seen


class FuzzedApp(App):
    """An app whose calls are judged, and which leaves nothing behind."""

    def __init__(self, subject: SubjectHandle, folder: str) -> None:
        """folder: for caches. NotApplicable where the subject has no runtime."""
        runtime: Runtime | None = subject.interfaces.runtime
        if runtime is None:
            raise NotApplicable("the subject has no runtime interface")
        self._subject, self._folder = subject, folder
        self._pools: list[Pool] = []
        self._cpu: int | None = None
        self._live = self._objects()
        self.seen: set[str] = set()
        self._before = ""
        super().__init__(runtime, subject.manifest.feature_level, PooledMemory(self.pool))

    @property
    def checks_handles(self) -> bool:
        """Whether the runtime promises to check them."""
        return self._subject.manifest.checks_handles

    def _objects(self) -> int:
        control = self._subject.interfaces.runtime_control
        return 0 if control is None else control.live_objects()

    def cache_folder(self) -> str:
        """Where compilations may be cached."""
        return self._folder

    def pool(self, size: int) -> Pool:
        """Memory of this history."""
        made = self._subject.memory.create("ashmem", size)
        self._pools.append(made)
        return made

    def cpu(self) -> int:
        """The runtime's own CPU; NotApplicable where there is none, or no list of devices."""
        if self._cpu is None:
            handles = [self.call("get_device", index, True).handle for index in range(self._device_count())]
            named = [handle for handle in handles if self.call("device_get_name", handle, True).value == CPU]
            if not (named or handles):
                raise NotApplicable("the runtime has no device")
            self._cpu = cast(int, (named or handles)[0])
        return self._cpu

    def _device_count(self) -> int:
        return cast(int, self.call("get_device_count", True).value)

    def judge_call(self, number: int, function: str, required: Required, result: int) -> None:
        """Raise Found unless a call has returned what is required; another failure does where no codes are promised."""
        word = f"{function} {result}"
        self.seen |= {f"{word} {required.requirement}", f"{self._before} {word}"}
        self._before = word
        if result in required.codes:
            return
        kind = _kind(required.code, result, is_exact=self._subject.manifest.exact_result_codes)
        if kind is None:
            return
        expected = " or ".join(map(name_of, required.codes))
        what = f"call {number}, {function}: expected {expected}, found {name_of(result)}"
        place = f"{function} {required.requirement or name_of(result)}"
        raise Found(kind, f"{required.requirement or 'a legal call'}: {what}", place)

    def close(self) -> None:
        """Free everything. Raises Found where something of the history remains."""
        try:
            self.free_all()
            left = self._objects() - self._live
        finally:
            for pool in self._pools:
                pool.close()
        if left:
            raise Found("leak", f"{left} objects remain though everything was freed", "objects")


def _kind(expected: int, result: int, *, is_exact: bool) -> Kind | None:
    """The kind of a finding; None where the code is as good as the one that is expected."""
    if result not in ResultCode.__members__.values():
        return "wrong-status"
    if result == ResultCode.NO_ERROR:
        return "invalid-accepted"
    if expected == ResultCode.NO_ERROR:
        return "valid-refused"
    return "wrong-status" if is_exact else None


def _play(app: FuzzedApp, steps: Sequence[Step]) -> tuple[str, ...]:
    """Let it happen; returns what was seen."""
    machine = ApiMachine(app)
    try:
        for step in steps:
            for call in calls_of(step, machine):
                perform(call, machine)
    except (Crashed, Hung, NotApplicable):
        raise
    except Failed as error:
        raise _found(error, machine) from None
    except InterfaceError as error:
        last = machine.calls[-1].partition("(")[0] if machine.calls else "the first call"
        what = f"{last} raised {type(error).__name__}: {error}\n{machine.history()}"
        raise Found("wrong-status", what, f"{last} {type(error).__name__}") from None
    return tuple(app.seen)


def _found(error: Failed, machine: ApiMachine) -> Found:
    """What was found, with the calls that led to it."""
    message = f"{error}, after these calls:\n{machine.history()}"
    if isinstance(error, Found):
        return Found(error.kind, message, error.where)
    kind: Kind = "wrong-result" if isinstance(error, WrongValue) else "wrong-status"
    about: Any = error.about or ("",)
    if isinstance(error, Refused):
        return Found(kind_of(error), message, where_of(error))
    last = machine.calls[-1].partition("(")[0] if machine.calls else ""
    return Found(kind, message, f"{last} {about[0]}".strip())
