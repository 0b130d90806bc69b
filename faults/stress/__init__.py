"""Drivers that go wrong under stress: what goes wrong, and when, put together as in the table of docs/stress.md.

A driver behaves like the reference towards a client that comes once, infers and goes. What goes wrong concerns the
clients of the load, told by their uids.
"""

from __future__ import annotations

import signal

from npu_conformance.faults.factories import PATIENT, faulty_device, faulty_models
from npu_conformance.faults.fault import Fault, FaultySubject
from npu_conformance.faults.npu_manager import EDITED
from npu_conformance.faults.source_edits import DetectedAs, SourceEdit, apply
from npu_conformance.faults.stress.circumstances import (
    always,
    any_release,
    eight_models,
    full,
    inference_n,
    inferring_at_once,
    inferring_while_preparing,
    many_operations,
    mapped,
    preparation_n,
    preparing_at_once,
    release_n,
    released_beside,
    some_operations,
    two_models,
    wide_operand,
)
from npu_conformance.faults.stress.deeds import (
    clears,
    exits,
    exits_later,
    exits_with_1,
    hangs,
    is_slow,
    killed_by,
    leaks_child,
    leaks_descriptor,
    leaks_memory,
    leaks_shared_memory,
    leaks_thread,
    loses_helper,
    miscomputes,
    on,
    raises,
    refuses,
    replaces_helper,
    runs_out,
    starts_helper,
)
from npu_conformance.faults.stress.driver import What, When, stressed
from npu_conformance.faults.stress.ways import OpensForRestored, OpensForReusable, ThreadOfBurst, ThreadOfFenced
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.manager import service
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version


def _edits(name: str) -> tuple[SourceEdit, ...]:
    """Those of a manager's fault."""
    return next(row.edits for row in EDITED if row.id == name)


_SILENT = (
    SourceEdit(
        "reference.manager.manager",
        "NpuManager._ask_unload",
        "        self._tell(request.client, lambda: callback.on_request_unload_model(model, told))\n",
        "",
    ),
)
_GRANTS_TWICE = (
    SourceEdit(
        "reference.manager.manager",
        "NpuManager._send_decision",
        "    request.callback.on_can_load_model(request.model, status, listener)\n",
        "    request.callback.on_can_load_model(request.model, status, listener)\n"
        "    request.callback.on_can_load_model(request.model, status, listener)\n",
    ),
)
_ENDS_TWICE = (
    SourceEdit(
        "reference.manager.manager",
        "NpuManager._finish",
        "        self._tell(request.client, lambda: callback.on_model_load_request_complete(model, status))\n",
        "        self._tell(request.client, lambda: callback.on_model_load_request_complete(model, status))\n"
        "        self._tell(request.client, lambda: callback.on_model_load_request_complete(model, status))\n",
    ),
)


def _managed(edits: tuple[SourceEdit, ...]) -> FaultySubject:
    """The reference driver beside the reference manager with its source edited, in real time."""

    def create(context: Context, version: Version) -> Subject:
        apply(edits)
        manager, control = service.create(context, real_time=True, declared_only=True)
        return Subject(device=ReferenceDevice(context, version), manager=manager, manager_control=control)

    return FaultySubject(
        create,
        ("device", "manager", "manager_control"),
        deadlines=PATIENT,
        manifest=lambda: {"npu_profile": "page", "virtual_clock": False, "time_scale": 0.05},
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
    hal: Version = Version.V1_3,
) -> Fault:
    cases = tuple(f"mlts.{case}" for case in caught_by.split())
    words = tuple(breaks.split())
    return Fault(f"stress-{name}", description, words, cases, mechanism, hal, detected_as, True, ends_as)


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
           _releasing(always, exits_later), CRASH, "ML-CRS-011"),
    _fault("segfault-behind-a-death", "It dies when somebody infers after a client has died.",
           f"{_KILLED} multi_process.load.half_terminated multi_process.load.all_terminated "
           "multi_process.inference.most_terminated",
           _preparing(any_release, _SEGV), CRASH, "ML-CRS-006"),
    _fault("helper-replaced", "A process of the driver's dies and is replaced; no call fails.", _PROCESSES,
           stressed(at_start=starts_helper, at_inference=replaces_helper), None, "ML-CRS-014", "quality-warning"),
    _fault("helper-lost", "A process of the driver's dies, and only the log says so.", _PROCESSES,
           stressed(at_start=starts_helper, at_inference=loses_helper), None, "ML-CRS-014", "quality-warning"),
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
    _fault("refuses-while-preparing", "Of two preparations at once one fails.",
           "multi_process.load.none_terminated",
           stressed(at_preparation=on(preparing_at_once, refuses)), FAIL, "ML-CRS-007"),
    _fault("refuses-behind-a-death", "No model can be prepared once a client has died.", _KILLED,
           _preparing(any_release, refuses), FAIL, "ML-CRS-006"),
    _fault("refuses-inferences-behind-a-death", "No inference succeeds once a client has died.",
           "stress.parallel_inference.early_termination", _inferring(any_release, refuses), FAIL, "ML-CRS-012"),
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
    _fault("unwritten-of-graphs", "Nothing is written at all.",
           "random_models.inference.small random_models.inference.wide random_models.inference.deep",
           _inferring(always, clears), FAIL, "ML-CRS-008"),
    _fault("wrong-throughout", "Results are wrong throughout.",
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

_WAYS = tuple(
    _fault(f"leak-{name}", description, "every_way.executions.left_behind", mechanism, FAIL, "ML-CRS-016", hal=NEWEST)
    for name, description, mechanism in (
        ("descriptor-per-reusable", "A reusable execution leaves a descriptor open.", faulty_models(OpensForReusable)),
        ("thread-per-fenced", "A fenced execution leaves a thread behind.", faulty_models(ThreadOfFenced)),
        ("thread-per-burst", "A burst leaves a thread behind.", faulty_models(ThreadOfBurst)),
        ("descriptor-per-restored", "A restored model leaves a descriptor open.", faulty_device(OpensForRestored)),
    )
)

_MANY, _BESIDE = "stress.parallel_inference.many_models", "stress.parallel_inference.beside_releases"

_MORE = (
    _fault("segfault-with-eight-models", "It dies of SIGSEGV when eight models are loaded.", _MANY,
           _inferring(eight_models, _SEGV), CRASH),
    _fault("exits-with-eight-models", "It ends with exit code 1 when eight models are loaded.", _MANY,
           _preparing(eight_models, exits_with_1), CRASH, "ML-CRS-005"),
    _fault("hangs-with-eight-models", "No inference returns while eight models are loaded.", _MANY,
           _inferring(eight_models, hangs), HANG),
    _fault("full-with-eight-models", "No model can be prepared beside eight others.", _MANY,
           _preparing(eight_models, refuses), FAIL, "ML-CRS-005"),
    _fault("wrong-with-eight-models", "Results are wrong while eight models are loaded.", _MANY,
           _inferring(eight_models, miscomputes), FAIL),
    _fault("segfault-at-release-beside", "It dies at a release while another client infers.", _BESIDE,
           _releasing(released_beside, _SEGV), CRASH, "ML-CRS-005"),
    _fault("hangs-at-release-beside", "A release never ends while another client infers.", _BESIDE,
           _releasing(released_beside, hangs), HANG, "ML-CRS-005"),
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
         _edits("manager-dead-keep-their-budget"), HANG),
        ("misses-deaths", "The manager does not take a closed connection for a death.", "npu_apps.death.while_loaded",
         _edits("manager-closed-connections-live"), HANG),
        ("forgets-the-parked", "A request that has to wait is not looked at again.",
         "npu_apps.turns.taken npu_apps.death.while_loaded", _edits("manager-parked-for-ever"), HANG),
        ("asks-nobody-to-unload", "The manager waits for an unload that it has asked nobody for.",
         "npu_apps.pre_emption.by_importance", _SILENT, HANG),
        ("allows-twice", "An app is told twice that it may load.", "npu_apps.turns.taken", _GRANTS_TWICE, FAIL),
        ("ends-twice", "An app is told twice that its request is over.", "npu_apps.turns.taken", _ENDS_TWICE, FAIL),
    )
)  # fmt: skip

FAULTS = (*_APPS, *_CRASHES, *_HANGS, *_FAILURES, *_LEAKS, *_WAYS, *_MORE, *_SLOW)
"""Drivers that go wrong under stress, each with what its clients have to end as."""
