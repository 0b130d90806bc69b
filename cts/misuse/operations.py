"""Operations of a model, its inputs and outputs, its end, and what is asked about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR, RuntimeApp
from npu_conformance.cts.lib.runtime.legal import SCENES
from npu_conformance.cts.lib.runtime.legal.models import FILTER
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, Change, Misuses, Object, run_row
from npu_conformance.cts.lib.runtime.objects import BUILDING_MODEL, FINISHED_MODEL, INVALID_MODEL, TWICE, is_invalid
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.nnapi.errors import CallError
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import AppProcess, RuntimeControl
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import NEWEST, Version

_UNKNOWN_OPERATION, _EXTENSION_OPERATION = 9999, 0x7FFE << 16
_FAR = 999
_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_MODELS)
_LARGEST_INDEX = 2**32 - 1


@dataclass
class _Reset:
    """Gives the runtime back the process that it started with."""

    control: RuntimeControl

    def close(self) -> None:
        """Do so."""
        self.control.reset()


@_own.case("model_add_operation.extension_not_allowed", "FW-EXT-001", "FW-MDL-021")
def extension_not_allowed(context: CaseContext) -> None:
    """model_add_operation, of an extension that the process may not use: BAD_DATA, and no effect.

    Since feature level 5 it is refused in any process, as its prefix belongs to no extension.
    """
    if context.manifest.feature_level < Version.FL5:
        control = context.present(context.subject.interfaces.runtime_control, "runtime_control")
        control.set_process(AppProcess("/system/bin/app"))
        context.close_later(_Reset(control))
    run_row(
        "model_add_operation", (BAD_DATA,), ({"type": _EXTENSION_OPERATION},), SCENES["model_add_operation"], context
    )


def _add_operation() -> Misuses:
    table = Misuses("model_add_operation", "FW-MDL-021")
    table.null("model", "inputs", "outputs")
    table.row("unknown_operation", BAD_DATA, {"type": _UNKNOWN_OPERATION}, {"type": -1}, {"type": 106})
    table.row(
        "index", BAD_DATA, *({key: (each,)} for key in ("inputs", "outputs") for each in (4, _FAR, _LARGEST_INDEX))
    )
    table.row(
        "signature",
        BAD_DATA,
        {"inputs": (0, 1)},
        {"inputs": (0, 1, 2, 2)},
        {"inputs": ()},
        {"outputs": ()},
        {"outputs": (3, 0)},
        {"inputs": (0, 1, 3)},
        {"inputs": (0, 2, 2)},
        {"outputs": (2,)},
    )
    oem = {"type": int(OperationType.OEM_OPERATION)}
    table.row("empty_list_of_oem", BAD_DATA, {**oem, "inputs": ()}, {**oem, "outputs": ()}, since=Version.FL5)
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL})
    table.row("invalid_model", BAD_STATE, {"model": INVALID_MODEL}, of="FW-MDL-025")
    return table


def _identify() -> Misuses:
    table = Misuses("model_identify_inputs_and_outputs", "FW-MDL-022")
    table.null("model", "inputs", "outputs")
    indexes = tuple({key: (each,)} for key in ("inputs", "outputs") for each in (4, _FAR, _LARGEST_INDEX))
    refusals: Mapping[str, tuple[Change, ...]] = {
        "input_is_output": ({"outputs": (0,)}, {"inputs": (0, 1, 3)}),
        "duplicate_input": ({"inputs": (0, 1, 0)}, {"inputs": (0, 0)}),
        "duplicate_output": ({"outputs": (3, 3)},),
        "index": indexes,
        "constant": ({"inputs": (0, 1, 2)}, {"outputs": (2,)}),
    }
    for name, changes in refusals.items():
        table.row(name, BAD_DATA, *changes, apart=True)
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    table.row("invalid_model", BAD_STATE, {"model": INVALID_MODEL}, of="FW-MDL-025")
    return table


def _relax() -> Misuses:
    table = Misuses("model_relax_computation_float32_to_float16")
    table.null("model")
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    table.row("invalid_model", BAD_STATE, {"model": INVALID_MODEL}, of="FW-MDL-025")
    return table


@_own.case("model_add_operation.newer_operation", "FW-GEN-011", until=Version.FL6)
def newer_operation(context: CaseContext) -> None:
    """An operation that the runtime's feature level does not have yet is refused when the model is finished, or before.

    Its model is the one of a vector, as the first feature level with the operation wants it.
    """
    app = RuntimeApp(context)
    for name in catalogue.names():
        legal = [header for header in vectors.headers(name) if not header.rejected]
        oldest = min(legal, key=lambda header: header.since, default=None)
        if oldest is None or oldest.since <= app.level or name in ("IF", "WHILE"):
            continue
        with context.configuration(name):
            model = build_model(vectors.load(name, oldest.name), NEWEST).model
            checks.equal(_result_of_building(app, model), BAD_DATA, f"result of building a model with {name}")


def _result_of_building(app: RuntimeApp, model: Model) -> int:
    """NO_ERROR, or the code of the first call that fails."""
    try:
        app.built(model)
    except CallError as error:
        return error.result
    return ResultCode.NO_ERROR


def _graph(*operations: tuple[tuple[int, int], int], operands: int, output: int) -> Callable[[RuntimeApp], int]:
    """A model of ADDs. Operands: 0 and 1 the inputs, 2 the activation, the rest vectors."""

    def make(app: RuntimeApp) -> int:
        model = app.empty_model()
        for described in (VECTOR, VECTOR, ACTIVATION, VECTOR, VECTOR)[:operands]:
            app.succeed("model_add_operand", model, described)
        app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
        for (first, second), result in operations:
            app.succeed("model_add_operation", model, OperationType.ADD, (first, second, 2), (result,))
        app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (output,))
        return model

    return make


def _unscaled(app: RuntimeApp) -> int:
    """A DEQUANTIZE of weights that have no scales."""
    model = app.empty_model()
    app.succeed("model_add_operand", model, FILTER)
    app.succeed("model_add_operand", model, OperandDescription(OperandType.TENSOR_FLOAT32, 4, (2, 1, 1, 1)))
    app.succeed("model_add_operation", model, OperationType.DEQUANTIZE, (0,), (1,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (1,))
    return model


_CYCLE = _graph(((0, 4), 3), ((3, 1), 4), operands=5, output=4)
_READS_ITSELF = _graph(((0, 3), 3), operands=4, output=3)
_READS_ITSELF_BEHIND_OTHERS = _graph(((0, 1), 3), ((3, 4), 4), operands=5, output=4)
_NEVER_WRITTEN = _graph(((0, 4), 3), operands=5, output=3)
_OUTPUT_NEVER_WRITTEN = _graph(((0, 1), 3), operands=5, output=4)
_UNUSED = _graph(((0, 1), 3), operands=5, output=3)
_WRITTEN_TWICE = _graph(((0, 1), 3), ((1, 0), 3), operands=4, output=3)
_EMPTY = _graph(operands=4, output=3)


def _finish() -> Misuses:
    table = Misuses("model_finish", "FW-MDL-023")
    table.null("model")
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-025")
    for name, make in (
        ("cycle", _CYCLE),
        ("reads_itself", _READS_ITSELF),
        ("reads_itself_behind_others", _READS_ITSELF_BEHIND_OTHERS),
        ("never_written", _NEVER_WRITTEN),
        ("output_never_written", _OUTPUT_NEVER_WRITTEN),
        ("neither_read_nor_written", _UNUSED),
        ("written_twice", _WRITTEN_TWICE),
        ("no_operations", _EMPTY),
    ):
        table.row(name, BAD_DATA, {"model": Object(make, is_invalid)})
    scales = {"model": Object(_unscaled, is_invalid)}
    table.row("per_channel_without_scales", BAD_DATA, scales, of="FW-MDL-019", since=Version.V1_2)
    return table


def _supported() -> Misuses:
    table = Misuses("model_get_supported_operations_for_devices", "FW-MDL-028")
    table.null("model", "devices", "supported_ops")
    table.row("null_element", 3, {"devices": (NULL,)}, {"devices": Object(lambda app: (*app.devices(), NULL))})
    table.row("no_devices", BAD_DATA, {"devices": ()})
    table.row("duplicate_device", BAD_DATA, *TWICE)
    table.row("model_not_finished", BAD_STATE, {"model": BUILDING_MODEL}, {"model": INVALID_MODEL})
    return table


def _extension_types() -> Iterator[Misuses]:
    for function in ("model_get_extension_operand_type", "model_get_extension_operation_type"):
        table = Misuses(function, "FW-EXT-003")
        table.null("model", "extension_name", "type")
        yield table


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    create = Misuses("model_create")
    create.null("model")
    for table in (create, _add_operation(), _identify(), _relax(), _finish(), _supported(), *_extension_types()):
        yield from table
