"""Faults at the boundary of the NNAPI runtime, of models on their way through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from npu_conformance.faults.factories import fault
from npu_conformance.faults.runtime.hooks import (
    FaultyRuntime,
    Hook,
    always,
    answering,
    behind,
    overriding,
    passing,
    saying,
)
from npu_conformance.faults.runtime.spoiling import (
    FailsBesideAnother,
    KeepsInputs,
    LateConstants,
    SpoilsBursts,
    SpoilsInputs,
    SpoilsOutputs,
)
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    MAXIMUM_LOOP_TIMEOUT_NS,
    ResultCode,
)
from npu_conformance.specs.neuralnetworks.runtime.types import FenceAnswer, Handle, Number

_OK, _BAD_DATA, _BAD_STATE, _OP_FAILED = (
    ResultCode.NO_ERROR,
    ResultCode.BAD_DATA,
    ResultCode.BAD_STATE,
    ResultCode.OP_FAILED,
)
_SHORT = ResultCode.OUTPUT_INSUFFICIENT_SIZE
_MISSED = {ResultCode.MISSED_DEADLINE_TRANSIENT: _OP_FAILED, ResultCode.MISSED_DEADLINE_PERSISTENT: _OP_FAILED}
_COMPUTING = ("execution_compute", "execution_burst_compute", "event_wait")
_STARTING = ("execution_start_compute", "execution_start_compute_with_dependencies")
_RANK, _DIMENSIONS = "execution_get_output_operand_rank", "execution_get_output_operand_dimensions"
_FROM_MEMORY = ("execution_set_input_from_memory", "execution_set_output_from_memory")
_PADDING, _TIMING = "execution_enable_input_and_output_padding", "execution_set_measure_timing"
_ALIGNMENT = "compilation_get_preferred_memory_alignment_for_input"


def _turned(codes: Mapping[Any, Any]) -> Hook:
    """A hook that gives other codes in place of these."""
    return answering(lambda result: codes.get(result, result))


def _all(hook: Hook, *methods: str) -> type[FaultyRuntime]:
    return overriding(dict.fromkeys(methods, hook))


def _event_of_nothing(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    return replace(answer, handle=1) if answer.result else answer


def once(result: int | Handle) -> Hook:
    """A hook that makes a call for an object once, and then answers this."""
    known: WeakKeyDictionary[FaultyRuntime, set[Any]] = WeakKeyDictionary()  # a runtime that starts again knows none

    def hook(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        seen = known.setdefault(runtime, set())
        if arguments[0] in seen:
            return result
        seen.add(arguments[0])
        return meant(*arguments)

    return hook


def _without_dependencies(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    execution, dependencies, *rest = arguments
    return meant(execution, (), 0, *rest[1:]) if dependencies else meant(*arguments)


def _computed_before_its_fences(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    started = _without_dependencies(runtime, meant, arguments)
    if started.result == _OK and arguments[1]:
        runtime.inner.event_wait(started.handle)
        if any(runtime.inner.event_wait(one) != _OK for one in arguments[1]):
            return Handle(_OP_FAILED, 0)
    return started


def _first_dependency(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    execution, dependencies, *rest = arguments
    return meant(execution, dependencies[:1], 1, *rest[1:]) if dependencies else meant(*arguments)


def _started_plainly(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    return runtime.inner.execution_start_compute(arguments[0], True) if answer.result == _BAD_DATA else answer


def _any_burst(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    result = meant(*arguments)
    return runtime.inner.execution_compute(arguments[0]) if result == _BAD_DATA else result


def _padded_from_the_start(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    runtime.inner.execution_enable_input_and_output_padding(answer.handle, True)
    return answer


def _measures_on(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return meant(*arguments) if arguments[1] else _OK


def _durations_crossed(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    return answer if answer.result else Number(_OK, 2_000 - 1_000 * (arguments[1] % 2))


def _no_self_copy(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return _BAD_DATA if arguments[0] == arguments[1] else meant(*arguments)


def _copy_without_check(runtime: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    meant(*arguments)
    return _OK


def _no_protected_memory(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return Handle(ResultCode.UNMAPPABLE) if arguments[1] == 1 else meant(*arguments)


def _from_the_start(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    size, protection, memory, _offset, *rest = arguments
    begin = memory and replace(memory, offset=0)
    return meant(size, protection, begin, 0, *rest)


def _same_size_fits(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    result = meant(*arguments)
    execution, index, type_, *rest = arguments
    return meant(execution, index, None, *rest) if result == _BAD_DATA and type_ is not None else result


def _wants_sizes(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    type_ = arguments[2]
    return _BAD_DATA if type_ is not None and 0 in (type_.dimensions or ()) else meant(*arguments)


def _no_long_loops(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return _BAD_DATA if arguments[1] > MAXIMUM_LOOP_TIMEOUT_NS else meant(*arguments)


def _refusing(value: int) -> Hook:
    """A hook that refuses a setting of this value."""
    return lambda runtime, meant, arguments: _BAD_DATA if arguments[1] == value else meant(*arguments)


_wrapped = passing(1, change=lambda duration: 1 if duration >= 2**63 else duration)
_zero_is_now = passing(1, change=lambda duration: duration or 1)

_ROWS: tuple[tuple[str, str, str, str, type[FaultyRuntime]], ...] = (
    ("failures-not-told", "To wait for an event says success, whatever came of its execution.", "FW-EXE-013",
     "executions.computing.failure_is_told",
     _all(always(_OK), "event_wait")),
    ("event-of-nothing", "An execution that could not be started gives an event.", "FW-EXE-012",
     "executions.events.started_twice executions.shapes.specified_by_type",
     _all(_event_of_nothing, *_STARTING)),
    ("no-event", "An execution that was started gives no event.", "FW-EXE-012",
     "executions.computing.ways",
     _all(saying(handle=0), *_STARTING)),
    ("event-waited-for-once", "An event can be waited for once.", "FW-EXE-013",
     "executions.events.wait_again executions.events.wait_at_once",
     _all(once(_BAD_STATE), "event_wait")),
    ("computed-again", "To compute what was computed says success and does nothing.", "FW-EXE-002",
     "executions.computing.once",
     _all(_turned({_BAD_STATE: _OK}), "execution_compute")),
    ("burst-computed-again", "The same over a burst.", "FW-EXE-002",
     "executions.computing.once",
     _all(_turned({_BAD_STATE: _OK}), "execution_burst_compute")),
    ("not-reusable", "A reusable execution is computed once.", "FW-EXE-003",
     "executions.computing.reusable",
     _all(once(_BAD_STATE), "execution_compute")),
    ("early-inputs", "Inputs are read when they are set.", "FW-GEN-001",
     "executions.computing.late_values",
     KeepsInputs),
    ("spoilt-inputs", "An execution overwrites its first input.", "FW-GEN-001",
     "executions.computing.inputs_are_kept generated.ABS.*",
     SpoilsInputs),
    ("wrong-bit", "One bit of each output is wrong.", "FW-GEN-009",
     "generated.ABS.* executions.computing.ways concurrency.threads.shared_compilation unknown_dimensions.grid.*",
     SpoilsOutputs),
    ("wrong-bit-over-bursts", "One bit of each output is wrong over a burst.", "FW-GEN-001",
     "executions.computing.ways executions.bursts.many generated.ABS.*",
     SpoilsBursts),
    ("all-succeeds", "Whatever fails at run time is called a success.", "FW-GEN-005",
     "generated.*refused* executions.computing.failure_is_told",
     _all(always(_OK), "execution_compute")),
    ("insufficient-is-failure", "An output without room is told as OP_FAILED.", "FW-EXE-018",
     "executions.shapes.insufficient",
     _all(_turned({_SHORT: _OP_FAILED}), *_COMPUTING)),
    ("insufficient-is-success", "An output without room is told as success.", "FW-EXE-018",
     "executions.shapes.insufficient",
     _all(_turned({_SHORT: _OK}), *_COMPUTING)),
    ("shapes-hidden", "After a lack of room no shapes are told.", "FW-EXE-018",
     "executions.shapes.insufficient",
     _all(_turned({_SHORT: _BAD_STATE}), _RANK, _DIMENSIONS)),
    ("all-short", "Where one output lacks room all are said to.", "FW-EXE-018",
     "executions.shapes.insufficient_and_sufficient executions.shapes.known",
     _all(_turned({_OK: _SHORT}), _RANK, _DIMENSIONS)),
    ("rank-off", "The rank of an output is one too large.", "FW-EXE-017",
     "executions.shapes.known generated.ADD.*",
     _all(saying(value=lambda rank: rank + 1), _RANK)),
    ("dimensions-reversed", "Dimensions of outputs are told in reverse.", "FW-GEN-003",
     "unknown_dimensions.grid.* generated.ADD.*",
     _all(saying(values=lambda values: values[::-1]), _DIMENSIONS)),
    ("dimensions-unknown", "Dimensions of outputs are told as 0.", "FW-GEN-004",
     "executions.shapes.found executions.shapes.zero_sized",
     _all(saying(values=lambda values: (0,) * len(values)), _DIMENSIONS)),
    ("shapes-too-early", "Shapes are told before and whatever comes of the execution.", "FW-EXE-017",
     "executions.shapes.too_early executions.shapes.after_failure",
     _all(_turned({_BAD_STATE: _OK}), _RANK, _DIMENSIONS)),
    ("open-outputs-with-dependencies", "Outputs of unknown shape are taken with dependencies.", "FW-EXE-022",
     "executions.shapes.specified_by_type",
     _all(_started_plainly, _STARTING[1])),
    ("durations-not-asked-for", "Durations of 0 are told though nobody asked.", "FW-EXE-019",
     "executions.timing.not_measured executions.timing.too_early executions.timing.after_failure",
     _all(lambda r, m, a: Number(_OK, 0) if m(*a).result == _BAD_STATE else m(*a), "execution_get_duration")),
    ("no-duration-is-zero", "A duration that is not there is 0.", "FW-EXE-019",
     "executions.timing.not_measured",
     _all(lambda r, m, a: replace(m(*a), value=0) if m(*a).result else m(*a), "execution_get_duration")),
    ("hardware-above-driver", "The hardware takes longer than the driver.", "FW-EXE-020",
     "executions.timing.measured executions.timing.reusable",
     _all(_durations_crossed, "execution_get_duration")),
    ("measures-for-all", "Timing is taken for compilations of all devices.", "FW-EXE-009",
     "executions.timing.several_devices",
     _all(_turned({_BAD_DATA: _OK}), _TIMING)),
    ("measures-for-ever", "Measuring cannot be switched off.", "FW-EXE-019",
     "executions.timing.switched_off",
     _all(_measures_on, _TIMING)),
    ("padding-ignored", "Padding is switched on without effect.", "FW-EXE-007",
     "executions.padding.pointers executions.padding.objects",
     _all(always(_OK), _PADDING)),
    ("padding-always", "Longer buffers are always taken.", "FW-EXE-007",
     "executions.padding.not_enabled",
     _all(_padded_from_the_start, "execution_create")),
    ("padding-late", "Padding is said to be switched when it is too late.", "FW-EXE-008",
     "executions.padding.too_late",
     _all(_turned({_BAD_STATE: _OK}), _PADDING)),
    ("odd-alignment", "The preferred alignment is no power of two.", "FW-CMP-009",
     "executions.padding.preferred",
     _all(saying(value=48), _ALIGNMENT)),
    ("dependencies-ignored", "Nothing is waited for.", "FW-EXE-023",
     "executions.events.failed_dependency executions.events.failed_fence",
     _all(_without_dependencies, _STARTING[1])),
    ("half-a-token", "Of the token of a compilation the first half counts.", "FW-CAC-004",
     "caching.tokens.of_two_models caching.tokens.user_token",
     _all(passing(2, change=lambda token: token and token[:16] * 2), "compilation_set_caching")),
    ("computed-before-its-fences", "What is to wait for fences is computed at once; then they are waited for.",
     "FW-EXE-023", "executions.waiting.for_fences_of_the_app executions.waiting.for_fences",
     _all(_computed_before_its_fences, _STARTING[1])),
    ("one-dependency", "Only the first dependency counts.", "FW-EXE-023",
     "executions.events.failed_dependency",
     _all(_first_dependency, _STARTING[1])),
    ("fence-kept", "No event gives a fence.", "FW-EXE-024",
     "executions.events.fence_of_fence",
     _all(always(FenceAnswer(_BAD_DATA)), "event_get_sync_fence_fd")),
    ("fence-without-fence", "An event without a fence gives one that is none.", "FW-EXE-024",
     "executions.events.fence_of_event",
     _all(lambda r, m, a: FenceAnswer(_OK, m(*a).fence), "event_get_sync_fence_fd")),
    ("any-burst", "A burst of another compilation is taken.", "FW-EXE-014",
     "executions.bursts.other_compilation",
     _all(_any_burst, "execution_burst_compute")),
    ("one-burst", "A compilation has one burst.", "FW-GEN-001",
     "executions.bursts.several concurrency.threads.parallel_bursts",
     _all(once(Handle(_BAD_STATE)), "burst_create")),
    ("offsets-ignored", "Arguments lie at the beginning of their memory object.", "FW-GEN-001",
     "memory.objects.whole generated.ADD.*",
     _all(passing(4, change=lambda offset: 0), *_FROM_MEMORY)),
    ("outside-taken", "Regions past the end of a memory are taken.", "FW-EXE-007",
     "memory.objects.outside",
     _all(_turned({_BAD_DATA: _OK}), *_FROM_MEMORY)),
    ("copies-unchecked", "Every copy is said to succeed.", "FW-MEM-006",
     "memory.domains.uninitialised_source memory.domains.failed_copy memory.domains.sizes_of_shared_memory "
        "memory.domains.failed_execution",
     _all(_copy_without_check, "memory_copy")),
    ("copies-nothing", "A copy does nothing.", "FW-MEM-006",
     "memory.domains.copies memory.domains.arguments",
     _all(always(_OK), "memory_copy")),
    ("no-self-copy", "A memory cannot be copied onto itself.", "FW-MEM-006",
     "memory.domains.copies",
     _all(_no_self_copy, "memory_copy")),
    ("uninitialised-is-bad-data", "To read memory that nothing was written to is BAD_DATA.", "FW-MEM-004",
     "memory.domains.uninitialised_input",
     _all(_turned({_OP_FAILED: _BAD_DATA}), "execution_compute")),
    ("no-read-only-memory", "Memory that is mapped for reading alone is refused.", "FW-MEM-010",
     "memory.objects.read_only",
     _all(_no_protected_memory, "memory_create_from_fd")),
    ("descriptor-from-the-start", "A memory object begins where its descriptor does.", "FW-MEM-010",
     "memory.objects.offset_of_descriptor",
     _all(_from_the_start, "memory_create_from_fd")),
    ("late-constants", "Small constants are read when the model is finished.", "FW-MDL-015",
     "memory.constants.copied_at_once",
     LateConstants),
    ("same-size-fits", "A type that contradicts the model is passed over where the length fits.", "FW-EXE-005",
     "unknown_dimensions.input.contradicted",
     _all(_same_size_fits, "execution_set_input", "execution_set_output")),
    ("sizes-wanted", "An output must be given all its sizes.", "FW-GEN-004",
     "unknown_dimensions.output.left_open",
     _all(_wants_sizes, "execution_set_output")),
    ("loop-timeout-ignored", "Every loop has the default timeout.", "FW-QOS-003",
     "control_flow.WHILE.endless_is_aborted",
     _all(always(_OK), "execution_set_loop_timeout")),
    ("long-loop-timeout-refused", "A loop timeout above the longest is refused.", "FW-EXE-010",
     "control_flow.WHILE.long_timeouts",
     _all(_no_long_loops, "execution_set_loop_timeout")),
    ("default-is-maximum", "The default loop timeout is said to be the longest.", "FW-QOS-004",
     "control_flow.WHILE.timeouts",
     _all(always(MAXIMUM_LOOP_TIMEOUT_NS), "get_default_loop_timeout")),
    ("missed-is-failure", "A deadline or a loop timeout that is missed is told as OP_FAILED.", "FW-QOS-003",
     "control_flow.WHILE.endless_is_aborted quality_of_service.deadlines.expired_on_cpu",
     _all(_turned(_MISSED), *_COMPUTING)),
    ("long-timeout-wraps", "An execution timeout of more than 63 bits has passed at once.", "FW-QOS-001",
     "quality_of_service.deadlines.execution_timeout",
     _all(_wrapped, "execution_set_timeout")),
    ("long-compilation-timeout-wraps", "The same of a compilation.", "FW-QOS-001",
     "quality_of_service.deadlines.compilation_timeout",
     _all(_wrapped, "compilation_set_timeout")),
    ("zero-is-now", "A timeout of zero has passed at once.", "FW-QOS-001",
     "quality_of_service.deadlines.execution_timeout quality_of_service.deadlines.timeout_is_cleared",
     _all(_zero_is_now, "execution_set_timeout")),
    ("transient-on-cpu", "What the CPU has missed for good is said to be worth another try.", "FW-QOS-002",
     "quality_of_service.deadlines.expired_on_cpu",
     _all(_turned({11: 10}), *_COMPUTING)),
    ("no-low-priority", "The low priority is refused.", "FW-CMP-006",
     "quality_of_service.settings.priorities",
     _all(_refusing(90), "compilation_set_priority")),
    ("no-sustained-speed", "The preference for sustained speed is refused.", "FW-CMP-004",
     "quality_of_service.settings.preferences",
     _all(_refusing(2), "compilation_set_preference")),
    ("one-at-a-time", "An execution that is computed while another one is fails.", "FW-GEN-008",
     "concurrency.threads.shared_compilation concurrency.threads.own_compilations",
     FailsBesideAnother),
)  # fmt: skip

FAULTS = [
    fault(name, description, breaks, caught_by, behind(kind), family="runtime-flow", area="cts")
    for name, description, breaks, caught_by, kind in _ROWS
]
"""Faults of runtimes whose objects are right and whose work is not."""
