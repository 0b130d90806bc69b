"""Calls over the wire against an honest plug-in: values, objects, callbacks, memory, identity, errors."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator

import msgspec
import pytest
from patience import SECONDS
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.wire import binding
from npu_conformance.specs.errors import DeadObject, ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

PLUGIN = "echo_plugin:plugin"
EMPTY = types.Model(types.Subgraph((), (), (), ()))


@pytest.fixture(scope="module", autouse=True)
def plugin_path() -> Iterator[None]:
    sys.path.insert(0, str(HOSTILE))
    yield
    del sys.path[0]


@pytest.fixture(scope="module")
def shared() -> Iterator[RemoteSubject]:
    subject = open_subject(PLUGIN)
    assert isinstance(subject, RemoteSubject)
    yield subject
    subject.close()


@pytest.fixture(scope="module", params=["process", "inprocess"])
def subject(request: pytest.FixtureRequest) -> Iterator[SubjectHandle]:
    handle = open_subject(PLUGIN, isolation=request.param)
    yield handle
    handle.close()


def device_of(subject: SubjectHandle) -> hal.Device:
    """The plug-in's device."""
    assert subject.interfaces.device is not None
    return subject.interfaces.device


class Prepared(hal.PreparedModelCallback):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.models: list[hal.PreparedModel | None] = []

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        """Keep."""
        self.models.append(prepared_model)


class SignalledFence(hal.Fence):
    """A fence of the harness."""

    def get_state(self) -> int:
        """Signalled."""
        return 1


def prepare(subject: SubjectHandle, preference: int = 1) -> hal.PreparedModel:
    """Prepare the empty model."""
    callback = Prepared()
    device_of(subject).prepare_model(EMPTY, preference, 1, -1, (), (), b"\x00\xff", callback)
    assert subject.wait_until(lambda: bool(callback.models), SECONDS)
    assert callback.models[0] is not None
    return callback.models[0]


def check_copy(subject: SubjectHandle, data: bytes) -> tuple[types.Request, hal.PreparedModel]:
    """A request that copies one pool to another."""
    source, target = subject.memory.create("ashmem", len(data)), subject.memory.create("ashmem", len(data))
    source.write(0, data)
    pools = (types.RequestMemoryPool(source.memory), types.RequestMemoryPool(target.memory))
    prepare(subject).execute_synchronously(types.Request((), (), pools), False, -1, -1)
    copied = target.read(0, len(data))
    for pool in (source, target):
        pool.close()
    assert copied == data
    return types.Request((), (), pools), prepare(subject)


def test_open_values_survive(subject: SubjectHandle) -> None:
    operations = tuple(types.Operation(code, (2**31,), (-1,)) for code in (10**9, -7, 99))
    model = types.Model(types.Subgraph((types.Operand(scale=float("nan"), zero_point=10**6),), operations, (), ()))
    assert device_of(subject).get_type() == 77
    assert device_of(subject).get_supported_operations(model) == (True, False, False)
    assert device_of(subject).get_capabilities().float32_performance == types.PerformanceInfo(float("inf"), 0.5)


def test_errors_of_the_interface(subject: SubjectHandle) -> None:
    with pytest.raises(ServiceError, match="preference 99") as caught:
        prepare(subject, 99)
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT
    with pytest.raises(Unsupported, match="getStatus"):
        device_of(subject).get_status()


def test_an_error_names_the_call(shared: RemoteSubject) -> None:
    with pytest.raises(ServiceError) as caught:
        prepare(shared, 99)
    assert caught.value.method == "device.prepareModel"


def test_memory_of_any_size(subject: SubjectHandle) -> None:
    check_copy(subject, b"x")
    check_copy(subject, bytes(range(256)) * 16384)


def test_closed_pool_is_unknown(subject: SubjectHandle) -> None:
    request, prepared = check_copy(subject, b"data")
    with pytest.raises(ServiceError) as caught:
        prepared.execute_synchronously(request, False, -1, -1)
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


def test_pools_start_as_zeros_whatever_was_there(subject: SubjectHandle) -> None:
    for size in (100, 5000):
        first = subject.memory.create("ashmem", size)
        first.write(0, b"\xaa" * size)
        first.close()
        second = subject.memory.create("ashmem", size)
        assert second.read(0, size) == bytes(size)
        second.close()


def test_pool_bounds(subject: SubjectHandle) -> None:
    pool = subject.memory.create("ashmem", 10)
    with pytest.raises(ValueError, match="no bytes 8 to 12 in a pool of 10"):
        pool.write(8, b"1234")
    with pytest.raises(ValueError, match="no bytes"):
        pool.read(-1, 2)
    pool.close()


def test_applications_have_identities(subject: SubjectHandle) -> None:
    first, second = subject.application(10001, 7), subject.application(10002)
    for application, identity in ((first, "10001 7"), (second, "10002 0"), (first, "10001 7")):
        assert application.interfaces.device is not None
        assert application.interfaces.device.get_version_string().startswith(identity)
    first.close()
    second.close()


def test_application_that_has_died_is_dead(shared: RemoteSubject) -> None:
    application = shared.application(10003)
    device = application.interfaces.device
    assert device is not None
    application.close()
    with pytest.raises(DeadObject, match="closed by this side"):
        device.get_type()
    assert device_of(shared).get_type() == 77


def test_a_bug_of_the_driver_is_a_failure(shared: RemoteSubject) -> None:
    said = r"device\.prepareModel: raised KeyError at echo_plugin.py:\d+ in prepare_model: 'a bug'"
    with pytest.raises(Failed, match=said):
        prepare(shared, 98)
    assert shared.alive()


def test_own_objects_come_back_as_themselves(shared: RemoteSubject) -> None:
    prepared = prepare(shared)
    description = types.BufferDesc((1,))
    assert device_of(shared).allocate(description, (prepared, hal.PreparedModel()), (), ()).token == 2


def test_the_driver_calls_back_while_it_is_called(shared: RemoteSubject) -> None:
    fences = (SignalledFence(), SignalledFence())
    result = prepare(shared).execute_fenced(types.Request((), (), ()), fences, False, -1, -1, -1)
    assert result.sync_fence is fences[0]
    assert result.callback is None


def test_an_exception_in_a_callback_reaches_the_case(shared: RemoteSubject) -> None:
    class Broken(hal.Fence):
        def get_state(self) -> int:
            raise AssertionError("the case's own")

    subject = open_subject(PLUGIN)
    prepared = prepare(subject)
    with pytest.raises(AssertionError, match="the case's own"):
        prepared.execute_fenced(types.Request((), (), ()), (Broken(),), False, -1, -1, -1)
    subject.close()


def test_objects_are_released(shared: RemoteSubject) -> None:
    exported = _exported(shared)
    fence = SignalledFence()
    prepared = prepare(shared)
    prepared.execute_fenced(types.Request((), (), ()), (fence,), False, -1, -1, -1)
    gc.collect()
    # The host tells with its next messages that it has dropped fence and callback.
    assert shared.wait_until(lambda: _released(shared, exported), SECONDS)


def _released(subject: RemoteSubject, exported: int) -> bool:
    subject.ping()
    return _exported(subject) <= exported


def _exported(subject: RemoteSubject) -> int:
    """How many objects the host may still use."""
    return len(subject.connection.objects._exported)


def test_objects_of_another_connection_are_refused(shared: RemoteSubject) -> None:
    application = shared.application(10004)
    assert application.interfaces.device is not None
    with pytest.raises(DeadObject, match="another connection"):
        application.interfaces.device.allocate(types.BufferDesc(()), (prepare(shared),), (), ())
    application.close()


def test_methods_take_names_and_defaults() -> None:
    found = binding.find_method("scheduling.setCallback")
    assert found is not None
    params = found[1].params(1, None)
    assert msgspec.json.encode(params) == b'{"object":1,"callback":null,"debounceDurationMs":50}'
    assert binding.find_method("scheduling.evil") is None
    assert binding.find_method("notAnInterface.ping") is None


def test_names_that_there_are_not_take_no_memory() -> None:
    tracemalloc.start()
    try:
        for number in range(20):
            binding.find_method(f"{number}" + "x" * 100_000)
        assert tracemalloc.get_traced_memory()[0] < 1 << 18
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("transport", ["path", "descriptor", "message"])
def test_every_transport(transport: str) -> None:
    subject = open_subject(PLUGIN, transports=(transport,))
    assert subject.memory.transports == (transport,)
    check_copy(subject, bytes(range(256)) * 64)
    subject.close()


def test_option_and_version_reach_the_plugin() -> None:
    subject = open_subject(PLUGIN, {"speed": "9"}, version=Version.V1_2)
    assert subject.manifest.hal_version == subject.version == Version.V1_2
    assert device_of(subject).get_version_string().endswith("{'speed': '9', 'hal': '1.2'}")
    subject.close()


def test_restart_makes_a_new_process(shared: RemoteSubject) -> None:
    subject = open_subject(PLUGIN)
    before = device_of(subject).get_version_string()
    old = device_of(subject)
    subject.restart()
    assert device_of(subject).get_version_string() != before
    with pytest.raises(DeadObject, match="closed by this side"):
        old.get_type()
    subject.close()


def test_a_method_that_does_not_take_its_arguments_is_told_with_its_place() -> None:
    handle = open_subject("vendor_plugins:of_another_version")
    told = r"TypeError: .*prepare_model\(\) takes 3 .* \(vendor_plugins\.py:78\): it is called with model, preference, "
    with pytest.raises(Failed, match=told):
        device_of(handle).prepare_model(EMPTY, 0, 0, -1, (), (), b"", None)
    handle.close()


def test_a_text_that_is_none_is_an_error_and_no_death() -> None:
    handle = open_subject("vendor_plugins:half_a_character")
    told = r"the result cannot cross the wire: 'utf-8' codec can't encode character '\\udce4'"
    with pytest.raises(Failed, match=told):
        device_of(handle).get_version_string()
    assert device_of(handle).get_status() == 0
    handle.close()
