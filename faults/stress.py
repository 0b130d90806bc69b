"""Drivers that go wrong under stress: what goes wrong, and when, put together as in the table of docs/stress.md.

A driver behaves like the reference towards a client that comes once, infers and goes. What goes wrong concerns the
clients of the load, told by their uids.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.fault import Fault, FaultySubject
from npu_conformance.faults.managers import EDITED
from npu_conformance.faults.source_edits import DetectedAs, apply
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.manager import service
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Deadlines
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_LOAD_UIDS = range(10_201, 10_300)
_NTH = 12
"""What goes wrong after a while does so at this inference, or preparation."""
_ROOM = 40
_IN_HASTE = Deadlines(prepare=1.0, execute=1.0)
_PAGE = 4096


class Load:
    """What the driver's clients do at the moment, and have done so far; of those under load only.

    inferences, preparations: so far. inferring, preparing: at the moment. models: that are loaded. released: so far.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.inferences = self.preparations = self.inferring = self.preparing = self.models = self.released = 0
        self.last_preparation = 0.0
        self.kept: list[Any] = []
        self.children: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._is_helper_gone = False

    def counts(self) -> bool:
        """True while a client under load calls."""
        return self.context.caller().uid in _LOAD_UIDS

    def ends_helper(self) -> bool:
        """Kill the driver's own process, once it has worked for a while; true where it was still there."""
        with self._lock:
            is_due = self.inferences >= _NTH and not self._is_helper_gone
            self._is_helper_gone |= is_due
        if is_due:
            self.children[-1].kill()
            self.children[-1].wait()
        return is_due


When = Callable[[Load, Any], bool]
What = Callable[[Load, Any], object]
"""Gets the load, and the model as it was described, or the request, whichever there is."""


class StressedModel(FaultyPreparedModel):
    """Tells its driver of each execution, and of its end."""

    load: Load
    after: What
    on_release: What
    is_counted = False

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        load = self.load
        if not load.counts():
            return self.inner.execute_synchronously(request, *rest)
        load.inferences += 1
        load.inferring += 1
        try:
            time.sleep(0.0005)  # so that others can begin meanwhile
            result = self.inner.execute_synchronously(request, *rest)
            type(self).after(load, request)
            return result
        finally:
            load.inferring -= 1

    def __del__(self) -> None:
        if self.is_counted:
            self.load.models -= 1
            self.load.released += 1
            type(self).on_release(self.load, None)


def _nothing(load: Load, about: Any) -> None:
    """Conform."""


def stressed(
    at_inference: What = _nothing,
    at_preparation: What = _nothing,
    at_release: What = _nothing,
    at_start: What = _nothing,
    steady_latency: bool = False,
) -> FaultySubject:
    """The reference driver that does something of its own at these moments, to clients of the load."""

    def create(context: Context, version: Version) -> Subject:
        load = Load(context)
        at_start(load, None)

        class Model(StressedModel):
            after, on_release = staticmethod(at_inference), staticmethod(at_release)

        Model.load = load

        class Device(FaultyDevice):
            prepared_model = Model

            def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
                if prepared_model is None or not load.counts():
                    super().prepared(callback, status, prepared_model)
                    return
                model = Model(prepared_model)
                model.is_counted = True
                load.models += 1
                callback.notify(status, model)

            def call(self, name: str, *arguments: Any) -> Any:
                if not name.startswith("prepare_model") or not load.counts():
                    return super().call(name, *arguments)
                load.preparations += 1
                load.preparing += 1
                load.last_preparation = time.monotonic()
                try:
                    time.sleep(0.0005)
                    at_preparation(load, arguments[0])
                    return super().call(name, *arguments)
                finally:
                    load.preparing -= 1

        return Subject(device=Device(ReferenceDevice(context, version)))

    return FaultySubject(create, deadlines=_IN_HASTE, manifest=lambda: {"steady_latency": steady_latency})


# When.


def always(load: Load, about: Any) -> bool:
    """Every time."""
    return True


def inference_n(load: Load, about: Any) -> bool:
    """From the Nth inference on."""
    return load.inferences >= _NTH


def preparation_n(load: Load, about: Any) -> bool:
    """From the Nth preparation on."""
    return load.preparations >= _NTH


def inferring_at_once(load: Load, about: Any) -> bool:
    """While two clients infer."""
    return load.inferring > 1


def preparing_at_once(load: Load, about: Any) -> bool:
    """While two clients prepare."""
    return load.preparing > 1


def inferring_while_preparing(load: Load, about: Any) -> bool:
    """While a model is prepared, or was so a moment ago."""
    return time.monotonic() - load.last_preparation < 0.05


def two_models(load: Load, about: Any) -> bool:
    """While two models are loaded."""
    return load.models > 1


def release_n(load: Load, about: Any) -> bool:
    """From the Nth release of a model on."""
    return load.released >= _NTH


def any_release(load: Load, about: Any) -> bool:
    """When a model was released before, as by a client that has gone."""
    return load.released > 0


def full(load: Load, about: Any) -> bool:
    """When there is room for no more models."""
    return load.preparations > _ROOM


def many_operations(load: Load, model: types.Model) -> bool:
    """For a model of more than 100 operations."""
    return len(model.main.operations) > 100


def some_operations(load: Load, model: types.Model) -> bool:
    """For a model of ten operations or more."""
    return len(model.main.operations) >= 10


def wide_operand(load: Load, model: types.Model) -> bool:
    """For a model of ten operations with a dimension of more than ten."""
    large = any(max(operand.dimensions, default=0) > 10 for operand in model.main.operands)
    return large and some_operations(load, model)


def mapped(load: Load, model: types.Model) -> bool:
    """For a model whose constants lie in a pool."""
    return bool(model.pools)


# What.


def killed_by(number: signal.Signals) -> What:
    """Die of a signal."""

    def act(load: Load, about: Any) -> None:
        os.kill(os.getpid(), number)
        time.sleep(10.0)

    return act


def exits(load: Load, about: Any) -> None:
    """End with exit code 0."""
    os._exit(0)


def exits_with_1(load: Load, about: Any) -> None:
    """End with exit code 1."""
    os._exit(1)


def exits_later(load: Load, about: Any) -> None:
    """End a moment later, when nobody calls."""
    threading.Timer(0.02, os._exit, (0,)).start()


def hangs(load: Load, about: Any) -> None:
    """Never return."""
    threading.Event().wait()


def raises(load: Load, about: Any) -> None:
    """Raise what is no error of the interface."""
    raise ZeroDivisionError("a bug of the driver")


def refuses(load: Load, about: Any) -> None:
    """Fail, and say so."""
    raise ServiceError(ErrorStatus.GENERAL_FAILURE)


def runs_out(load: Load, about: Any) -> None:
    """Say that there is no resource left for now."""
    raise ServiceError(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT)


def miscomputes(load: Load, request: types.Request) -> None:
    """Write a wrong output."""
    memory = request.pools[1].pool
    assert memory is not None
    load.context.memory.map(memory)[0] ^= 0x80


def clears(load: Load, request: types.Request) -> None:
    """Write no output, but what another client might have left."""
    memory = request.pools[1].pool
    assert memory is not None
    found = load.context.memory.map(memory)
    found[:] = bytes([0xA5]) * len(found)


def is_slow(load: Load, about: Any) -> None:
    """Take much longer."""
    time.sleep(0.02)


def leaks_descriptor(load: Load, about: Any) -> None:
    """Open a file, and never close it."""
    os.open(os.devnull, os.O_RDONLY)


def leaks_thread(load: Load, about: Any) -> None:
    """Start a thread that waits for ever."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def leaks_shared_memory(load: Load, about: Any) -> None:
    """Map shared memory, and never unmap it."""
    descriptor = os.memfd_create("leak")
    os.ftruncate(descriptor, _PAGE)
    load.kept.append(mmap.mmap(descriptor, _PAGE))
    os.close(descriptor)


def leaks_memory(size: int) -> What:
    """Keep so many bytes that were written to."""

    def act(load: Load, about: Any) -> None:
        load.kept.append(bytes([1]) * size)

    return act


def leaks_child(load: Load, about: Any) -> None:
    """Start a process, and never end it."""
    subprocess.Popen(["sleep", "600"])


def starts_helper(load: Load, about: Any) -> None:
    """Have a process of its own for the work."""
    load.children.append(subprocess.Popen(["sleep", "600"]))


def replaces_helper(load: Load, about: Any) -> None:
    """Lose that process, and start another: no call fails."""
    if load.ends_helper():
        starts_helper(load, about)


def loses_helper(load: Load, about: Any) -> None:
    """Lose that process for good, which shows in the log only."""
    if load.ends_helper():
        print("F libc: Fatal signal 11 (SIGSEGV), code 1 in tid 4711 (npu-helper)", file=sys.stderr, flush=True)


def on(when: When, what: What) -> What:
    """Do something when something holds."""

    def act(load: Load, about: Any) -> None:
        if when(load, about):
            what(load, about)

    return act


def _managed(name: str) -> FaultySubject:
    """The reference driver beside a manager whose source is edited as that of the fault of this name."""
    edits = next(row.edits for row in EDITED if row.id == name)

    def create(context: Context, version: Version) -> Subject:
        apply(edits)
        manager, control = service.create(context, real_time=True, declared_only=True)
        return Subject(device=ReferenceDevice(context, version), manager=manager, manager_control=control)

    return FaultySubject(
        create,
        ("device", "manager", "manager_control"),
        manifest=lambda: {"npu_profile": "page", "virtual_clock": False, "time_scale": 0.3},
    )


CRASH, HANG, FAIL = Outcome.CRASH, Outcome.HANG, Outcome.FAIL
_PROCESSES, _THREADS = "stress.parallel_inference.processes", "stress.parallel_inference.threads"
_HERE = "stress.parallel_inference.in_process"
_KILLED = "early_termination.loading.killed"


def _fault(
    name: str,
    description: str,
    caught_by: str,
    mechanism: FaultySubject,
    ends_as: Outcome | None,
    breaks: str = "ML-CRS-002",
    detected_as: DetectedAs = "red",
) -> Fault:
    cases = tuple(f"mlts.{case}" for case in caught_by.split())
    words = tuple(breaks.split())
    return Fault(f"stress-{name}", description, words, cases, mechanism, Version.V1_3, detected_as, True, ends_as)


def _inferring(when: When, what: What) -> FaultySubject:
    return stressed(at_inference=on(when, what))


def _preparing(when: When, what: What) -> FaultySubject:
    return stressed(at_preparation=on(when, what))


def _releasing(when: When, what: What) -> FaultySubject:
    return stressed(at_release=on(when, what))


_SEGV, _ABRT = killed_by(signal.SIGSEGV), killed_by(signal.SIGABRT)

_CRASHES = (
    _fault("segfault-at-prepare", "The driver dies of SIGSEGV at the twelfth preparation.",
           "multi_process.load.none_terminated", _preparing(preparation_n, _SEGV), CRASH, "ML-CRS-007"),
    _fault("segfault-at-first-inference", "It dies at a client's first inference.", _PROCESSES,
           _inferring(always, _SEGV), CRASH),
    _fault("segfault-at-nth-inference", "It dies of SIGSEGV at the twelfth inference.",
           f"{_PROCESSES} multi_process.inference.none_terminated", _inferring(inference_n, _SEGV), CRASH),
    _fault("abort-when-two-infer", "It dies of SIGABRT when two clients infer at once.", f"{_PROCESSES} {_HERE}",
           _inferring(inferring_at_once, _ABRT), CRASH, "ML-CRS-005"),
    _fault("abort-when-two-prepare", "It dies of SIGABRT when two clients prepare at once.",
           "multi_process.load.none_terminated", _preparing(preparing_at_once, _ABRT), CRASH, "ML-CRS-007"),
    _fault("kill-at-nth-inference", "It is ended by SIGKILL, as for lack of memory.", _THREADS,
           _inferring(inference_n, killed_by(signal.SIGKILL)), CRASH),
    _fault("terminated-at-nth-inference", "It is ended by SIGTERM.", _THREADS,
           _inferring(inference_n, killed_by(signal.SIGTERM)), CRASH),
    _fault("bus-error-of-mapped", "It dies of SIGBUS when constants lie in a mapped file.", "mapped_load.constants.*",
           _preparing(mapped, killed_by(signal.SIGBUS)), CRASH, "ML-CRS-015"),
    _fault("division-with-two-models", "It dies of SIGFPE when two models are loaded.", _PROCESSES,
           _inferring(two_models, killed_by(signal.SIGFPE)), CRASH),
    _fault("illegal-at-release", "It dies of SIGILL at the twelfth release of a model.",
           "multi_process.load.none_terminated", _releasing(release_n, killed_by(signal.SIGILL)), CRASH, "ML-CRS-007"),
    _fault("exits-at-nth-inference", "It ends with exit code 0.", _PROCESSES, _inferring(inference_n, exits), CRASH),
    _fault("exits-with-1-at-prepare", "It ends with exit code 1 at the twelfth preparation.",
           "multi_process.load.none_terminated", _preparing(preparation_n, exits_with_1), CRASH, "ML-CRS-007"),
    _fault("exits-behind-the-clients", "It ends when a client has gone, while nobody calls.", _HERE,
           _releasing(always, exits_later), CRASH, "ML-CRS-014"),
    _fault("segfault-behind-a-death", "It dies when somebody infers after a client has died.",
           f"{_KILLED} multi_process.load.half_terminated multi_process.load.all_terminated "
           "multi_process.inference.most_terminated",
           _preparing(any_release, _SEGV), CRASH, "ML-CRS-006"),
    _fault("helper-replaced", "A process of the driver's dies and is replaced; no call fails.", _PROCESSES,
           stressed(at_start=starts_helper, at_inference=replaces_helper), CRASH, "ML-CRS-014"),
    _fault("helper-lost", "A process of the driver's dies, and only the log says so.", f"{_PROCESSES} {_HERE}",
           stressed(at_start=starts_helper, at_inference=loses_helper), CRASH, "ML-CRS-014"),
    _fault("segfault-of-deep-graphs", "It dies of SIGSEGV at a model of many operations, as of a full stack.",
           "random_models.load.deep random_models.inference.deep", _preparing(many_operations, _SEGV), CRASH,
           "ML-CRS-008"),
    _fault("segfault-of-wide-graphs", "It dies of SIGSEGV at a large dimension.",
           "random_models.load.wide random_models.inference.wide", _preparing(wide_operand, _SEGV), CRASH,
           "ML-CRS-008"),
    _fault("abort-of-graphs", "It dies of SIGABRT at a model of ten operations.",
           "random_models.load.small random_models.inference.small", _preparing(some_operations, _ABRT), CRASH,
           "ML-CRS-008"),
)  # fmt: skip

_HANGS = (
    _fault("hangs-at-prepare", "The twelfth preparation never returns.", "multi_process.load.none_terminated",
           _preparing(preparation_n, hangs), HANG, "ML-CRS-002 ML-CRS-007"),
    _fault("hangs-at-first-inference", "A client's first inference never returns.", _PROCESSES,
           _inferring(always, hangs), HANG),
    _fault("hangs-at-nth-inference", "The twelfth inference never returns.", f"{_PROCESSES} {_THREADS}",
           _inferring(inference_n, hangs), HANG),
    _fault("deadlock-of-two-inferences", "Two inferences at once wait for each other.", f"{_PROCESSES} {_HERE}",
           _inferring(inferring_at_once, hangs), HANG, "ML-CRS-005"),
    _fault("deadlock-of-two-preparations", "Two preparations at once wait for each other.",
           "multi_process.load.none_terminated", _preparing(preparing_at_once, hangs), HANG, "ML-CRS-007"),
    _fault("hangs-with-two-models", "No inference returns while two models are loaded.", _PROCESSES,
           _inferring(two_models, hangs), HANG),
    _fault("hangs-behind-a-death", "No preparation returns once a client has gone.", _KILLED,
           _preparing(any_release, hangs), HANG, "ML-CRS-006"),
    _fault("hangs-at-release", "The release of a model never ends.", "multi_process.load.none_terminated",
           _releasing(release_n, hangs), HANG, "ML-CRS-007"),
    _fault("hangs-at-deep-graphs", "A model of many operations is never prepared.", "random_models.load.deep",
           _preparing(many_operations, hangs), HANG, "ML-CRS-008"),
    _fault("hangs-at-mapped", "A model in a mapped file is never prepared.", "mapped_load.constants.load",
           _preparing(mapped, hangs), HANG, "ML-CRS-015"),
)  # fmt: skip

_FAILURES = (
    _fault("refuses-at-prepare", "From the twelfth preparation on all fail.", "multi_process.load.none_terminated",
           _preparing(preparation_n, refuses), FAIL, "ML-CRS-007"),
    _fault("refuses-at-nth-inference", "From the twelfth inference on all fail.", f"{_PROCESSES} {_THREADS}",
           _inferring(inference_n, refuses), FAIL),
    _fault("refuses-two-at-once", "Of two inferences at once one fails.", f"{_PROCESSES} {_HERE}",
           _inferring(inferring_at_once, refuses), FAIL, "ML-CRS-005"),
    _fault("refuses-while-preparing", "Inferences fail while a model is prepared.", "multi_process.load.none_terminated",
           stressed(at_preparation=on(preparing_at_once, refuses)), FAIL, "ML-CRS-007"),
    _fault("refuses-behind-a-death", "No model can be prepared once a client has died.", _KILLED,
           _preparing(any_release, refuses), FAIL, "ML-CRS-006"),
    _fault("full-for-ever", "A released model keeps its place: after forty there is no room.",
           "multi_process.load.none_terminated mapped_load.constants.load", _preparing(full, runs_out), FAIL,
           "ML-CRS-007"),
    _fault("raises-at-nth-inference", "The driver's code raises an exception.", _PROCESSES,
           _inferring(inference_n, raises), FAIL),
    _fault("raises-at-prepare-of-two", "Two preparations at once end in an exception.",
           "multi_process.load.none_terminated", _preparing(preparing_at_once, raises), FAIL, "ML-CRS-007"),
    _fault("wrong-after-n", "From the twelfth inference on results are wrong.",
           f"{_PROCESSES} {_THREADS} {_HERE} multi_process.inference.none_terminated",
           _inferring(inference_n, miscomputes), FAIL),
    _fault("wrong-under-load", "Results are wrong while two clients infer.", f"{_PROCESSES} {_HERE}",
           _inferring(inferring_at_once, miscomputes), FAIL, "ML-CRS-005"),
    _fault("wrong-with-two-models", "Results are wrong while two models are loaded.", _PROCESSES,
           _inferring(two_models, miscomputes), FAIL),
    _fault("wrong-while-preparing", "Results are wrong while another client prepares.",
           "degradation.latency.while_loading", _inferring(inferring_while_preparing, miscomputes), FAIL, "ML-CRS-005"),
    _fault("unwritten-under-load", "No result is written while two clients infer.", _THREADS,
           _inferring(inferring_at_once, clears), FAIL, "ML-CRS-005"),
    _fault("wrong-graphs", "Results are wrong throughout.",
           "random_models.inference.small random_models.inference.wide random_models.inference.deep "
           "mapped_load.constants.inference multi_process.inference.most_terminated",
           _inferring(always, miscomputes), FAIL, "ML-CRS-008"),
)  # fmt: skip

_LEAKS = tuple(
    _fault(f"leak-{name}", description, case, mechanism, FAIL, "ML-CRS-016")
    for name, description, case, mechanism in (
        ("descriptor-per-inference", "An inference leaves a descriptor open.", f"{_PROCESSES} {_THREADS} {_HERE}",
         _inferring(always, leaks_descriptor)),
        ("descriptor-per-model", "A model leaves a descriptor open.", "multi_process.load.none_terminated",
         _preparing(always, leaks_descriptor)),
        ("descriptor-per-client", "A client that goes leaves a descriptor open.", _KILLED,
         _releasing(always, leaks_descriptor)),
        ("thread-per-inference", "An inference leaves a thread behind.", _PROCESSES, _inferring(always, leaks_thread)),
        ("thread-per-model", "A model leaves a thread behind.", "multi_process.load.none_terminated",
         _preparing(always, leaks_thread)),
        ("thread-per-dead-client", "A client that was killed leaves a thread behind.",
         "multi_process.inference.most_terminated", _releasing(always, leaks_thread)),
        ("shared-memory-per-inference", "An inference leaves shared memory mapped.", _PROCESSES,
         _inferring(always, leaks_shared_memory)),
        ("shared-memory-of-mapped", "A model in a mapped file leaves shared memory mapped.",
         "mapped_load.constants.load", _preparing(mapped, leaks_shared_memory)),
        ("process-per-model", "A model leaves a process behind.", "mapped_load.constants.load",
         _preparing(always, leaks_child)),
        ("process-per-dead-client", "A client that was killed leaves a process behind.",
         "multi_process.inference.most_terminated", _releasing(always, leaks_child)),
        ("memory-per-inference", "An inference leaves 128 KiB behind.", _PROCESSES,
         _inferring(always, leaks_memory(1 << 17))),
        ("memory-per-model", "A model leaves a MiB behind.", "multi_process.load.none_terminated",
         _preparing(always, leaks_memory(1 << 20))),
        ("when-two-infer", "Two inferences at once leave a descriptor open.", _PROCESSES,
         _inferring(inferring_at_once, leaks_descriptor)),
    )
)  # fmt: skip

_SLOW = (
    _fault("slow-while-preparing", "An inference takes much longer while models are prepared.",
           "degradation.latency.while_loading", _inferring(inferring_while_preparing, is_slow), None, "ML-CRS-009",
           "quality-warning"),
    _fault("slow-against-the-promise", "The same, although the manifest promises the contrary.",
           "degradation.latency.while_loading",
           stressed(at_inference=on(inferring_while_preparing, is_slow), steady_latency=True), FAIL, "ML-CRS-009"),
)  # fmt: skip

_APPS = tuple(
    _fault(f"npu-{name}", description, case, _managed(source), ends_as, "ML-CRS-017")
    for name, description, case, source, ends_as in (
        ("keeps-room-of-the-dead", "The manager keeps a dead app's model in its books.", "npu_apps.death.while_loaded",
         "manager-dead-keep-their-budget", HANG),
        ("misses-deaths", "The manager does not take a closed connection for a death.", "npu_apps.death.while_loaded",
         "manager-closed-connections-live", HANG),
        ("forgets-the-parked", "A request that has to wait is not looked at again.",
         "npu_apps.turns.taken npu_apps.death.while_loaded", "manager-parked-for-ever", HANG),
        ("asks-nobody-to-unload", "Where reasons are switched off nobody is asked to unload.",
         "npu_apps.pre_emption.by_importance", "manager-without-reason-without-request", HANG),
        ("answers-the-stronger-only", "What is parked is cancelled when another request is granted.",
         "npu_apps.turns.taken", "manager-parked-cancelled", FAIL),
    )
)  # fmt: skip

FAULTS = (*_APPS, *_CRASHES, *_HANGS, *_FAILURES, *_LEAKS, *_SLOW)
"""Drivers that go wrong under stress, each with what its clients have to end as."""
