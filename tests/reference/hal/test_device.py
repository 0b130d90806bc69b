"""The reference driver at every version: order of errors, requests, shapes, memory."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from reference_driver import TOKEN, VECTOR, DriverFixture, LocalMemory, Recorder, status_of

from npu_conformance.corpus.wire_model import build_request
from npu_conformance.reference.hal import device
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version

EVERY_VERSION = pytest.mark.parametrize("version", list(Version), ids=str)
SYNCHRONOUS = [version for version in Version if version >= Version.V1_2]


@EVERY_VERSION
def test_capabilities_have_the_fields_of_the_version(version: Version) -> None:
    found = DriverFixture(version).device.get_capabilities()
    assert (found.float32_performance is not None) == (version < Version.V1_2)
    assert (found.relaxed_float32_to_float16_performance is not None) == (version == Version.V1_1)
    assert (found.relaxed_float32_to_float16_performance_tensor is not None) == (version >= Version.V1_2)
    assert (found.while_performance is not None) == (version >= Version.V1_3)
    listed = [entry.type for entry in found.operand_performance]
    assert listed == sorted(listed)
    assert OperandType.SUBGRAPH not in listed
    assert len(listed) == (0 if version < Version.V1_2 else 14 if version == Version.V1_2 else 15)


@EVERY_VERSION
def test_a_model_is_supported_prepared_and_executed(version: Version) -> None:
    fixture = DriverFixture(version)
    model = fixture.model()
    assert fixture.device.get_supported_operations(model) == (True,)
    prepared = fixture.prepared(model)
    if not version.is_aidl:
        recorder = Recorder()
        prepared.execute(fixture.request(), False, fixture.none, fixture.none, recorder)
        status, shapes, timing = recorder.answer()
        assert status == ErrorStatus.NONE
        assert (len(shapes), timing is None) == ((0, True) if version < Version.V1_2 else (1, False))
        fixture.check_output()
    if version in SYNCHRONOUS:
        result = fixture.run(prepared, fixture.request())
        assert result.output_shapes == (types.OutputShape((2, 3), True),)
        assert result.timing == types.Timing(fixture.none, fixture.none)
        fixture.check_output()


@pytest.mark.parametrize("version", SYNCHRONOUS, ids=str)
def test_requested_times_have_the_unit_of_the_version(version: Version) -> None:
    fixture = DriverFixture(version)
    times = fixture.run(fixture.prepared(fixture.model()), fixture.request(), measure=True).timing
    # The clock goes on by one microsecond with each look, of which there are a handful.
    unit = 1000 if version.is_aidl else 1
    assert 0 < times.time_on_device < times.time_in_driver < 20 * unit
    assert times.time_on_device % unit == 0


@pytest.mark.parametrize("version", SYNCHRONOUS, ids=str)
def test_a_buffer_that_is_too_small_is_reported_and_not_written(version: Version) -> None:
    fixture = DriverFixture(version)
    built = build_request(VECTOR, VECTOR.examples[0], version, insufficient_output=True)
    result = fixture.run(fixture.prepared(fixture.model()), fixture.request(built), measure=True)
    assert not result.output_sufficient_size
    assert result.output_shapes == (types.OutputShape((2, 3), False),)
    assert result.timing == types.Timing(fixture.none, fixture.none)
    assert not any(fixture.memory.pools[fixture.outputs.token])


@pytest.mark.parametrize("version", SYNCHRONOUS, ids=str)
def test_unknown_output_dimensions_are_found_out(version: Version) -> None:
    fixture = DriverFixture(version)
    result = fixture.run(fixture.prepared(fixture.model(unspecified_outputs=True)), fixture.request())
    assert result.output_shapes == (types.OutputShape((2, 3), True),)
    fixture.check_output()


def test_request_dimensions_that_contradict_the_result_fail() -> None:
    fixture = DriverFixture(Version.FL8)
    request = fixture.request()
    wrong = replace(request.outputs[0], dimensions=(3, 2))
    prepared = fixture.prepared(fixture.model(unspecified_outputs=True))
    status = status_of(lambda: fixture.run(prepared, replace(request, outputs=(wrong,))))
    assert status == ErrorStatus.GENERAL_FAILURE


@EVERY_VERSION
def test_a_null_callback_is_refused(version: Version) -> None:
    fixture = DriverFixture(version)
    arguments = (fixture.model(), 1, 1, fixture.none, (), (), TOKEN, None)
    assert status_of(lambda: fixture.device.prepare_model(*arguments)) == ErrorStatus.INVALID_ARGUMENT


@EVERY_VERSION
@pytest.mark.parametrize(("argument", "since"), [("preference", Version.V1_1), ("priority", Version.V1_3)])
def test_codes_are_checked_in_versions_that_know_them(version: Version, argument: str, since: Version) -> None:
    fixture = DriverFixture(version)
    status, answer = fixture.prepare(fixture.model(), **{argument: 3})
    if version < since:
        assert (status, answer[0]) == (None, ErrorStatus.NONE)
    else:
        assert (status, answer) == (ErrorStatus.INVALID_ARGUMENT, (ErrorStatus.INVALID_ARGUMENT, None))


@EVERY_VERSION
def test_an_invalid_model_is_refused_both_ways(version: Version) -> None:
    fixture = DriverFixture(version)
    model = fixture.model()
    empty = replace(model, main=replace(model.main, operations=()))
    assert status_of(lambda: fixture.device.get_supported_operations(empty)) == ErrorStatus.INVALID_ARGUMENT
    refused = (ErrorStatus.INVALID_ARGUMENT, (ErrorStatus.INVALID_ARGUMENT, None))
    assert fixture.prepare(empty) == refused


def test_an_operation_without_kernel_is_not_supported_but_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = DriverFixture(Version.FL8)
    monkeypatch.setattr(device, "has_kernel", lambda code: code != OperationType.POW)
    model = fixture.model()
    lengthened = replace(model.main.operations[0], type=OperationType.POW, inputs=(0, 1))
    model = replace(model, main=replace(model.main, operations=(lengthened,)))
    assert fixture.device.get_supported_operations(model) == (False,)
    assert fixture.prepare(model) == (None, (ErrorStatus.GENERAL_FAILURE, None))


def test_a_past_deadline_is_missed_for_good() -> None:
    for version in (Version.V1_3, Version.FL5):
        fixture = DriverFixture(version)
        assert fixture.prepare(fixture.model(), deadline_ns=1) == (None, (ErrorStatus.MISSED_DEADLINE_PERSISTENT, None))
        prepared, request = fixture.prepared(fixture.model()), fixture.request()
        status = status_of(lambda: prepared.execute_synchronously(request, True, 1, fixture.none))  # noqa: B023
        assert status == ErrorStatus.MISSED_DEADLINE_PERSISTENT


def test_negative_times_and_short_tokens_are_refused_in_aidl() -> None:
    fixture = DriverFixture(Version.FL5)
    refused = (ErrorStatus.INVALID_ARGUMENT, (ErrorStatus.INVALID_ARGUMENT, None))
    assert fixture.prepare(fixture.model(), deadline_ns=-2) == refused
    assert fixture.prepare(fixture.model(), token=bytes(31)) == refused
    prepared, request = fixture.prepared(fixture.model()), fixture.request()
    for times in ((-2, -1), (-1, -2), (-1, 15_000_000_001)):
        status = status_of(lambda: prepared.execute_synchronously(request, False, *times))  # noqa: B023
        assert status == ErrorStatus.INVALID_ARGUMENT, times


def test_an_invalid_request_is_refused_both_ways() -> None:
    fixture = DriverFixture(Version.V1_3)
    prepared, recorder, request = fixture.prepared(fixture.model()), Recorder(), fixture.request()
    short = replace(request, inputs=request.inputs[:1])
    launch = status_of(lambda: prepared.execute(short, True, fixture.none, fixture.none, recorder))
    assert launch == ErrorStatus.INVALID_ARGUMENT
    assert recorder.answers == [(ErrorStatus.INVALID_ARGUMENT, (), types.Timing(fixture.none, fixture.none))]


def test_a_failing_execution_is_launched_and_notified() -> None:
    fixture = DriverFixture(Version.V1_3)
    prepared, recorder = fixture.prepared(fixture.model()), Recorder()
    request = fixture.request(outputs="hardware_buffer")
    # Such a buffer is used as a whole: locations in it are 0.
    whole = replace(request.outputs[0], location=types.DataLocation(1))
    prepared.execute(replace(request, outputs=(whole,)), True, fixture.none, fixture.none, recorder)
    assert recorder.answer() == (ErrorStatus.GENERAL_FAILURE, (), types.Timing(fixture.none, fixture.none))


@pytest.mark.parametrize(
    ("version", "kind"),
    [(Version.V1_3, kind) for kind in ("ashmem", "mmap_fd", "hardware_buffer_blob")] + [(Version.FL5, "mappableFile")],
)
def test_mappable_memory_serves_arguments_and_constants(version: Version, kind: str) -> None:
    fixture = DriverFixture(version)
    model = fixture.model(create_pool=lambda data: fixture.memory.create(data, kind, prot=1))
    assert model.pools
    prepared = fixture.prepared(model)
    # A client may reuse the memory of constants once the model is prepared.
    fixture.memory.pools[model.pools[0].token][:] = b"\xff" * model.pools[0].size
    fixture.run(prepared, fixture.request(inputs=kind, outputs=kind))
    fixture.check_output()


class MappedOnce(LocalMemory):
    """Memory of which each pool can be mapped once."""

    def map(self, memory: types.Memory) -> memoryview:
        view = super().map(memory)
        self.pools[memory.token] = bytearray()
        return view


def test_a_model_that_is_cached_too_is_mapped_once() -> None:
    fixture = DriverFixture(Version.FL8, MappedOnce())
    model = fixture.model(create_pool=fixture.memory.create)
    assert model.pools
    caches = {"model_cache": (types.CacheHandle((1,)),), "data_cache": (types.CacheHandle((2,)),)}
    status, (notified, prepared) = fixture.prepare(model, **caches)
    assert (status, notified) == (None, ErrorStatus.NONE)
    assert prepared is not None


def test_constants_in_memory_that_can_not_be_mapped_are_not_supported() -> None:
    fixture = DriverFixture(Version.V1_3)
    model = fixture.model(create_pool=lambda data: fixture.memory.create(data, "hardware_buffer"))
    assert fixture.device.get_supported_operations(model) == (False,)
    assert fixture.prepare(model) == (None, (ErrorStatus.GENERAL_FAILURE, None))


def test_read_only_memory_does_not_take_outputs() -> None:
    fixture = DriverFixture(Version.FL8)
    request = fixture.request()
    pools = (request.pools[0], types.RequestMemoryPool(replace(fixture.outputs, prot=1)))
    prepared = fixture.prepared(fixture.model())
    status = status_of(lambda: fixture.run(prepared, replace(request, pools=pools)))
    assert status == ErrorStatus.GENERAL_FAILURE


def test_an_input_that_is_not_optional_has_a_value() -> None:
    fixture = DriverFixture(Version.FL8)
    request, prepared = fixture.request(), fixture.prepared(fixture.model())
    omitted = replace(request, inputs=(types.RequestArgument(has_no_value=True), request.inputs[1]))
    assert status_of(lambda: fixture.run(prepared, omitted)) == ErrorStatus.GENERAL_FAILURE


def with_shapes(model: types.Model, left: tuple[int, ...], right: tuple[int, ...]) -> types.Model:
    operands = list(model.main.operands)
    operands[0], operands[1] = replace(operands[0], dimensions=left), replace(operands[1], dimensions=right)
    return replace(model, main=replace(model.main, operands=tuple(operands)))


def test_shapes_that_do_not_fit_are_refused_with_the_clause() -> None:
    fixture = DriverFixture(Version.FL8)
    known = with_shapes(fixture.model(unspecified_outputs=True), (2, 3), (3, 2))
    assert fixture.device.get_supported_operations(known) == (False,)
    assert fixture.prepare(known) == (None, (ErrorStatus.GENERAL_FAILURE, None))
    open_model = with_shapes(fixture.model(unspecified_outputs=True), (0, 0), (0, 0))
    request = fixture.request()
    shapes = [
        replace(argument, dimensions=shape) for argument, shape in zip(request.inputs, [(2, 3), (3, 2)], strict=True)
    ]
    prepared = fixture.prepared(open_model)
    with pytest.raises(ServiceError, match=r"ADD\.C\d+") as caught:
        fixture.run(prepared, replace(request, inputs=tuple(shapes)))
    assert caught.value.status == ErrorStatus.GENERAL_FAILURE


def test_nothing_is_loaded_from_a_cache_that_is_not_wanted() -> None:
    fixture, recorder = DriverFixture(Version.FL8, cache_files="0+0"), Recorder()
    assert fixture.device.get_number_of_cache_files_needed() == types.NumberOfCacheFiles(0, 0)
    status = status_of(lambda: fixture.device.prepare_model_from_cache(fixture.none, (), (), TOKEN, recorder))
    assert status == ErrorStatus.GENERAL_FAILURE
    assert recorder.answers == [(ErrorStatus.GENERAL_FAILURE, None)]


@pytest.mark.parametrize(
    ("roles", "status"),
    [
        (((0, 0, 1.0),), None),
        (((0, 0, 1.0), (0, 1, 0.5)), None),
        ((), ErrorStatus.INVALID_ARGUMENT),
        (((1, 0, 1.0),), ErrorStatus.INVALID_ARGUMENT),
        (((0, 2, 1.0),), ErrorStatus.INVALID_ARGUMENT),
        (((0, 0, 0.0),), ErrorStatus.INVALID_ARGUMENT),
        (((0, 0, 1.0), (0, 0, 1.0)), ErrorStatus.INVALID_ARGUMENT),
    ],
)
def test_roles_of_a_buffer_are_checked(roles: tuple[tuple[int, int, float], ...], status: ErrorStatus | None) -> None:
    fixture = DriverFixture(Version.V1_3)
    models = (fixture.prepared(fixture.model()),)
    inputs = tuple(types.BufferRole(*role) for role in roles)
    assert status_of(lambda: fixture.device.allocate(types.BufferDesc(()), models, inputs, ())) == status


@pytest.mark.parametrize("pooled", [False, True], ids=["in_the_model", "in_a_pool"])
def test_constants_in_pools_are_looked_at_again_when_a_model_is_prepared(
    pooled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients ask for support and then prepare: only where nothing is shared with them the answer still holds."""
    fixture, checked = DriverFixture(Version.FL8), list[str]()

    def check(view: OperationView) -> list[Violation]:
        checked.append(view.name)
        return check_operation(view)

    monkeypatch.setattr(device, "check_operation", check)
    model = fixture.model(create_pool=fixture.memory.create if pooled else None)
    assert fixture.device.get_supported_operations(model) == (True,)
    fixture.prepared(model)
    assert checked == ["ADD"] * (1 + pooled)
    fixture.prepared(replace(model, relax_computation_float32_to_float16=True))
    assert checked == ["ADD"] * (2 + pooled)
