"""A shared library as a plug-in: the tiny one of examples/nnapi_tiny, and smaller ones that are odd on purpose."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fuzzing import first_finding
from graphs import INPUT, OUTPUT, graph, tensor
from nnapi_libraries import NEEDED, OK, TINY, App, compiled, opened, runtime_of

from npu_conformance.cli.kit import header, models
from npu_conformance.fuzz.lib.runtime_target import RuntimeTarget
from npu_conformance.harness.judge.verdicts import Crashed
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.nnapi.executions import MemoryObjects, set_arguments
from npu_conformance.harness.nnapi.models import described
from npu_conformance.harness.subject.loading import Isolation, LoadError, open_subject
from npu_conformance.specs.errors import NotVisible, ServiceError, Unsupported
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.c_names import WITHOUT_C, c_name
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import (
    NULL,
    UNTOUCHED,
    Flags,
    Handle,
    Number,
    Numbers,
    OperandDescription,
    Text,
)
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version

pytestmark = NEEDED
Compile = Callable[[str, str], str]


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
@pytest.mark.parametrize("transport", ["path", "descriptor", "message"])
def test_executes_by_pointer_and_by_memory_object(tiny: str, isolation: Isolation, transport: str) -> None:
    with opened(tiny, isolation, transport) as subject:
        app = App(subject)
        built, compilation = app.compiled()
        for number, objects in enumerate((None, MemoryObjects(app.runtime))):
            execution = app.runtime.execution_create(compilation, True).handle
            set_arguments(app.runtime, execution, app.model, app.request(number, 20), objects)
            assert app.runtime.execution_compute(execution) == OK
            assert app.result() == (number + 1, 18)
            app.runtime.execution_free(execution)
        app.runtime.compilation_free(compilation)
        built.free(app.runtime)


def test_what_is_written_is_told_from_what_is_not(tiny: str) -> None:
    with opened(tiny) as subject:
        app = App(subject)
        runtime = app.runtime
        assert runtime.get_device_count(True) == Number(OK, 1)
        assert runtime.get_device_count(False) == Number(ResultCode.UNEXPECTED_NULL, UNTOUCHED)
        assert runtime.get_device(1, True) == Handle(ResultCode.BAD_DATA, UNTOUCHED)
        assert runtime.device_get_name(app.device, True) == Text(OK, "tiny-cpu")
        assert runtime.device_get_name(NULL, True) == Text(ResultCode.UNEXPECTED_NULL, None)
        built, compilation = app.compiled()
        assert runtime.model_get_supported_operations_for_devices(built.handle, (app.device,), True) == Flags(
            OK, (True,)
        )
        assert runtime.model_get_supported_operations_for_devices(built.handle, (), True).values == ()
        execution = runtime.execution_create(compilation, True).handle
        set_arguments(runtime, execution, app.model, app.request(1, 2))
        assert runtime.execution_get_output_operand_dimensions(execution, 0, True) == Numbers(ResultCode.BAD_STATE)
        started = runtime.execution_start_compute(execution, True)
        assert (started.result, runtime.event_wait(started.handle)) == (OK, OK)
        runtime.event_free(started.handle)
        assert runtime.execution_get_output_operand_dimensions(execution, 0, True) == Numbers(OK, (2,))
        assert runtime.execution_start_compute(execution, True) == Handle(ResultCode.BAD_STATE, NULL)


def test_the_example_refuses_types_without_dimensions_and_scales_below_zero(tiny: str) -> None:
    with opened(tiny) as subject:
        app = App(subject)
        built, compilation = app.compiled()
        execution, model = app.runtime.execution_create(compilation, True).handle, app.runtime.model_create(True).handle
        where = app.memory.room(8)
        without = OperandDescription(OperandType.TENSOR_FLOAT32, 1, None)
        assert app.runtime.execution_set_input(execution, 0, without, where, 8) == ResultCode.BAD_DATA
        assert app.runtime.execution_set_output(execution, 0, without, where, 8) == ResultCode.BAD_DATA
        for scale, zero_point, code in ((0.5, 0, OK), (-0.5, 0, ResultCode.BAD_DATA), (0.5, 1, ResultCode.BAD_DATA)):
            bias = OperandDescription(OperandType.TENSOR_INT32, 1, (2,), scale, zero_point)
            assert app.runtime.model_add_operand(model, bias) == code
        app.runtime.model_free(model)
        app.runtime.execution_free(execution)
        app.runtime.compilation_free(compilation)
        built.free(app.runtime)


def test_the_example_with_the_tables_of_the_kit_refuses_what_no_signature_allows(tmp_path: Path) -> None:
    """Also of operations that it does not have; the fuzzer of models found that it took anything."""
    (tmp_path / "npu_conformance.h").write_text(header.text())
    library = compiled(TINY, tmp_path / "libnnapi_tiny.so", f"-I{tmp_path}")
    samples = islice((one for one in models.lines(Version.V1_2) if "structure" not in one["name"]), 200)
    with opened(library) as subject:
        device = subject.interfaces.device
        assert device is not None
        for sample in samples:
            status = ErrorStatus.NONE
            try:
                device.get_supported_operations(msgspec.convert(sample["model"], Model))
            except NotVisible:
                continue
            except ServiceError as error:
                status = ErrorStatus(error.status)
            wanted = {"valid": ErrorStatus.NONE, "invalid": ErrorStatus.INVALID_ARGUMENT}
            assert status is wanted[sample["verdict"]], sample["name"]


def test_large_constants_are_read_when_the_model_is_finished(tiny: str) -> None:
    """setOperandValue keeps the pointer, so that what lies there at the end counts; small values are copied at once."""
    with opened(tiny) as subject:
        app = App(subject)
        runtime, floats = app.runtime, OperandType.TENSOR_FLOAT32
        operands = [tensor(floats, (40,), lifetime=INPUT), tensor(floats, (40,)), tensor(OperandType.INT32, ())]
        wire = graph([*operands, tensor(floats, (40,), lifetime=OUTPUT)], [])
        model = runtime.model_create(True).handle
        for operand in wire.operands:
            assert runtime.model_add_operand(model, described(operand)) == OK
        large, small = place(app.memory, struct.pack("<40f", *[5] * 40)), place(app.memory, bytes(4))
        assert runtime.model_set_operand_value(model, 1, large, 160) == OK
        assert runtime.model_set_operand_value(model, 2, small, 4) == OK
        app.memory.write(large, struct.pack("<40f", *[7] * 40))
        app.memory.write(small, struct.pack("<i", 99))
        assert runtime.model_add_operation(model, OperationType.ADD, (0, 1, 2), (3,)) == OK
        assert runtime.model_identify_inputs_and_outputs(model, (0,), (3,)) == OK
        assert runtime.model_finish(model) == OK
        made = runtime.compilation_create(model, True).handle
        assert runtime.compilation_finish(made) == OK
        execution = runtime.execution_create(made, True).handle
        arguments = app.memory.room(160), app.memory.room(160)
        assert runtime.execution_set_input(execution, 0, None, arguments[0], 160) == OK
        assert runtime.execution_set_output(execution, 0, None, arguments[1], 160) == OK
        assert runtime.execution_compute(execution) == OK
        assert app.memory.read(arguments[1], 160) == struct.pack("<40f", *[7] * 40)


def test_a_library_promises_what_its_user_says(tiny: str) -> None:
    with closing(open_subject(tiny, {})) as subject:
        assert (subject.manifest.exact_result_codes, subject.manifest.checks_handles) == (True, False)
    options = {"exact_result_codes": "false", "checks_handles": "true"}
    with closing(open_subject(tiny, options)) as subject:
        assert (subject.manifest.exact_result_codes, subject.manifest.checks_handles) == (False, True)
    with pytest.raises(LoadError, match="option checks_handles: expected true or false, found 'yes'"):
        open_subject(tiny, {"checks_handles": "yes"})


def test_a_function_that_is_not_exported(tiny: str) -> None:
    with runtime_of(tiny) as runtime:
        assert "compilation_set_timeout" not in runtime.functions()
        with pytest.raises(Unsupported, match="does not export ANeuralNetworksCompilation_setTimeout"):
            runtime.compilation_set_timeout(NULL, 1)
        with pytest.raises(Unsupported, match="no hardware buffers outside Android"):
            runtime.memory_create_from_a_hardware_buffer(None, True)


def test_every_method_has_a_declared_function() -> None:
    from npu_conformance.adapters.nnapi_c.declarations import DECLARATIONS

    methods = [name for name in describe(Runtime) if name not in WITHOUT_C]
    missing = [name for name in methods if f" {c_name(name)}(" not in DECLARATIONS]
    assert missing == []


def test_nothing_is_written_by_a_lazy_library(library: Compile) -> None:
    lazy = """
    int ANeuralNetworks_getDeviceCount(uint32_t *count) { *count = 0; return 0; }
    int ANeuralNetworksModel_create(void **model) { (void)model; return 0; }
    int ANeuralNetworksModel_addOperation(void *m, int32_t t, uint32_t n, const uint32_t *i, uint32_t k,
        const uint32_t *o) { (void)m; (void)i; (void)o; return (int)(t + (int)n * 10 + (int)k * 100); }
    int ANeuralNetworksModel_getSupportedOperationsForDevices(void *m, const void *d, uint32_t n, uint8_t *s) {
        (void)m; (void)d; (void)n; s[0] = s[1] = 1; return 0; }
    int64_t ANeuralNetworks_getRuntimeFeatureLevel(void) { return 31; }
    """
    with opened(library("lazy", lazy)) as subject:
        runtime = subject.interfaces.runtime
        assert runtime is not None
        assert subject.manifest.feature_level is Version.FL5
        assert runtime.model_create(True) == Handle(OK, UNTOUCHED)
        assert runtime.model_add_operation(NULL, 5, (1, 2), ()) == 25
        answers = runtime.model_get_supported_operations_for_devices(NULL, (), True)
        assert answers == Flags(OK, (True, True))  # one more than there are operations


FENCES = """
#include <poll.h>
#include <unistd.h>
int ANeuralNetworks_getDeviceCount(uint32_t *count) { *count = 0; return 0; }
int ANeuralNetworksEvent_createFromSyncFenceFd(int fd, void **event) {
    *event = (void *)(intptr_t)dup(fd); return fd < 0 ? 4 : 0; }
int ANeuralNetworksEvent_getSyncFenceFd(void *event, int *fd) { *fd = dup((int)(intptr_t)event); return 0; }
int ANeuralNetworksEvent_wait(void *event) {
    struct pollfd look = {(int)(intptr_t)event, POLLIN, 0};
    poll(&look, 1, -1);
    return look.revents & (POLLERR | POLLNVAL) ? 5 : 0; }
"""


@pytest.mark.parametrize("state", [FenceState.SIGNALLED, FenceState.ERROR])
def test_fences_travel_as_descriptors(library: Compile, state: FenceState) -> None:
    with runtime_of(library("fences", FENCES)) as runtime:
        fence = SettableFence()
        event = runtime.event_create_from_sync_fence_fd(fence, -1, True)
        assert event.result == OK
        assert runtime.event_create_from_sync_fence_fd(None, -1, True).result == ResultCode.BAD_DATA
        back = runtime.event_get_sync_fence_fd(event.handle, True).fence
        assert back is not None
        assert back.wait(1) == FenceState.UNSIGNALLED
        fence.settle(state)
        assert back.wait(10**10) == state
        assert (runtime.event_wait(event.handle) == OK) == (state == FenceState.SIGNALLED)


@pytest.mark.parametrize("state", [FenceState.SIGNALLED, FenceState.ERROR])
def test_the_news_of_a_fence_arrive_while_a_function_waits_for_it(library: Compile, state: FenceState) -> None:
    """The thread that serves the connection is the one that was asked to wait."""
    with opened(library("fences", FENCES), "process") as subject:
        assert subject.interfaces.runtime is not None
        fence = SettableFence()
        event = subject.interfaces.runtime.event_create_from_sync_fence_fd(fence, -1, True)
        timer = threading.Timer(0.1, lambda: fence.settle(state))
        timer.start()
        result = subject.interfaces.runtime.event_wait(event.handle)
        timer.join()
        assert (result == OK) == (state == FenceState.SIGNALLED)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("missing.so", None, "there is no such file"),
        ("text.so", "hello", "it cannot be loaded: .*text.so: file too short"),
        ("missing.so.1", None, "there is no such file"),
    ],
)
def test_what_is_no_library_is_said_in_a_line(tmp_path: Path, name: str, content: str | None, text: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(LoadError, match=text) as caught:
        open_subject(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_libraries_that_cannot_be_used(library: Compile) -> None:
    with pytest.raises(LoadError, match="exports no ANeuralNetworks functions"):
        open_subject(library("other", "int answer(void) { return 42; }"), isolation="inprocess")
    with pytest.raises(LoadError, match="died of SIGABRT when it was loaded"):
        open_subject(
            library("dying", "__attribute__((constructor)) static void begin(void) { abort(); }"), isolation="inprocess"
        )


@pytest.mark.parametrize(
    ("end", "how"),
    [("exit(3)", "ended with status 3"), ("exit(1)", "ended with status 1"), ("exit(0)", "ended with status 0"),
     ("abort()", "died of SIGABRT")],
)  # fmt: skip
def test_what_a_library_says_as_it_ends_the_process_is_shown(library: Compile, end: str, how: str) -> None:
    source = """#include <stdio.h>
        __attribute__((constructor)) static void begin(void) {
          fputs("vendor: begun\\n\\nno licence\\n", stderr);
          %s;
        }"""
    with pytest.raises(LoadError) as caught:
        open_subject(library("ending", source % end), isolation="inprocess")
    told = str(caught.value)
    assert told.endswith(f"it {how} when it was loaded and asked for its devices, and said: vendor: begun | no licence")
    assert "\n" not in told


def test_a_library_that_ends_in_silence_has_its_status_told(library: Compile) -> None:
    source = "__attribute__((constructor)) static void begin(void) { exit(0); }"
    with pytest.raises(LoadError, match=r"ended with status 0 when it was loaded and asked for its devices$"):
        open_subject(library("silent", source), isolation="inprocess")


def test_a_library_may_print_also_as_it_is_unloaded(library: Compile) -> None:
    printing = """#include <stdio.h>
        __attribute__((constructor)) static void begin(void) { puts("{}"); fputs("begun", stderr); }
        __attribute__((destructor)) static void end(void) { puts("[]"); fputs("ended", stderr); }"""
    with opened(library("tiny", f'#include "{TINY}"\n{printing}'), "process") as subject:
        assert subject.manifest.vendor == "tiny-cpu"
    with pytest.raises(LoadError, match=r"exports no ANeuralNetworks functions$"):
        open_subject(library("other", printing), isolation="inprocess")


def test_a_signal_without_a_name_in_python_is_told(library: Compile) -> None:
    dying = "#include <signal.h>\n__attribute__((constructor)) static void begin(void) { raise(SIGRTMIN + 1); }"
    with pytest.raises(LoadError, match=r"died of SIGRTMIN\+1 when it was loaded"):
        open_subject(library("dying", dying), isolation="inprocess")


def test_where_a_library_died_is_told_by_its_function(library: Compile) -> None:
    """Two crashes of one library are told apart: C has no frames in the stack of Python."""
    dying = """#include <signal.h>
        int ANeuralNetworksModel_create(void *model) { (void)model; return raise(SIGSEGV); }
        int ANeuralNetworksModel_finish(void *model) { (void)model; return raise(SIGSEGV); }"""
    path = library("dying", dying)
    died = rf"\(signal 11\) at {Path(path).name} in ANeuralNetworksModel_"
    calls: dict[str, Callable[[Any], object]] = {
        "create": lambda runtime: runtime.model_create(True),
        "finish": lambda runtime: runtime.model_finish(NULL),
    }
    for function, call in calls.items():
        with opened(path, "process") as subject, pytest.raises(Crashed, match=f"{died}{function}$"):
            call(subject.interfaces.runtime)


def test_a_library_whose_loading_hangs_ends_with_who_asked(library: Compile, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    hanging = library(
        "hanging",
        f"""
        #include <stdio.h>
        #include <unistd.h>
        __attribute__((constructor)) static void begin(void) {{
            FILE *told = fopen("{told}", "w");
            fprintf(told, "%d", getpid());
            fclose(told);
            for (;;) pause();
        }}
        """,
    )
    asks = "import sys; from npu_conformance.adapters.nnapi_c.probe import probe; probe(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", asks, hanging]) as asking:
        looking = os.pidfd_open(int(told.read_text()))
        asking.kill()
    poll = select.poll()
    poll.register(looking, select.POLLIN)
    try:
        assert poll.poll(20_000), "the process in which the library hangs lives on"
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(looking, signal.SIGKILL)
        os.close(looking)


def test_path_relative_to_the_current_folder(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(tiny).parent)
    with opened("libnnapi_tiny.so") as subject:
        manifest = subject.manifest
        assert (manifest.name, manifest.vendor, manifest.version) == ("libnnapi_tiny", "tiny-cpu", "1")
        assert (manifest.hal_version, manifest.feature_level) == (Version.V1_2, Version.V1_2)


def test_option_device(tiny: str) -> None:
    with pytest.raises(
        LoadError, match=r"option device: no device 'tiny' \(did you mean tiny-cpu\?\); there are: tiny"
    ):
        open_subject(tiny, {"device": "tiny"}, "inprocess")
    open_subject(tiny, {"device": "tiny-cpu"}, "inprocess").close()


def test_crash_is_a_verdict(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNAPI_TINY_CRASH", "1")
    with opened(tiny, "process") as subject:
        app = App(subject)
        _, compilation = app.compiled()
        execution = app.runtime.execution_create(compilation, True).handle
        set_arguments(app.runtime, execution, app.model, app.request(1, 2))
        with pytest.raises(Crashed, match="SIGABRT"):
            app.runtime.execution_compute(execution)
        subject.restart()
        assert subject.alive()


def test_histories_of_calls_find_nothing_in_the_example(tiny: str) -> None:
    """It nulls handles of refused creations, unmaps what nobody uses, and need not compile what its device cannot."""
    with opened(tiny) as subject:
        target = RuntimeTarget(subject)
        assert first_finding(target, seed=7, runs=600) is None
