"""Values, scales and extension data of operands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal import Scene
from npu_conformance.cts.lib.runtime.legal.models import (
    FILTER,
    branch,
    finish,
    operands_without_value,
    per_channel_model,
    set_value,
)
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, UNEXPECTED_NULL, Misuses, Object
from npu_conformance.cts.lib.runtime.objects import FINISHED_MODEL, INVALID_MODEL, memory_of_pixels
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION, UNKNOWN_RANK
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, PerChannelDescription
from npu_conformance.specs.versions import Version

_NEGATIVE, _FAR = -1, 999
_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_MODELS)
_DESCRIBED = Object(RuntimeApp.described_memory)
_BRANCH_IN_BUILDING = Object(partial(branch, finished=False), lambda app, model: app.succeed("model_finish", model))


def _oem_operand(app: RuntimeApp) -> int:
    """A model with a scalar of the vendor's own type, whose value has any length but none."""
    model = app.empty_model()
    app.succeed("model_add_operand", model, OperandDescription(OperandType.OEM))
    return model


_OEM_OF_NOTHING = {"model": Object(_oem_operand), "index": 0, "length": 0}


def _omitted(app: RuntimeApp) -> Scene:
    """An operand that is left without a value on purpose: no ADD can follow."""
    return Scene(set_value()(app).arguments)


def _unknown(operand: OperandDescription) -> Object:
    """A model whose operand 0 has no known size."""
    return Object(lambda app: operands_without_value(app, operand))


def _set_value() -> Misuses:
    table = Misuses("model_set_operand_value")
    table.null("model")
    table.row("null_buffer", UNEXPECTED_NULL, {"buffer": None}, of="FW-MDL-014 FW-API-001")
    table.row("omitted", ResultCode.NO_ERROR, {"buffer": None, "length": 0}, of="FW-MDL-014", scene=_omitted)
    table.row("length_0", BAD_DATA, {"length": 0}, of="FW-MDL-012")
    table.row("oem_of_length_0", BAD_DATA, _OEM_OF_NOTHING, of="FW-MDL-012", since=Version.FL5)
    table.row("index", BAD_DATA, {"index": _NEGATIVE}, {"index": 4}, {"index": _FAR}, of="FW-MDL-012")
    table.row("length", BAD_DATA, {"length": 3}, {"length": 5}, of="FW-MDL-012")
    for name, operand in (("unknown_dimension", UNKNOWN_DIMENSION), ("unknown_rank", UNKNOWN_RANK)):
        table.row(name, BAD_DATA, {"model": _unknown(operand), "index": 0}, of="FW-MDL-013")
    _states(table)
    return table


def _states(table: Misuses) -> None:
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    table.row("invalid_model", BAD_STATE, {"model": INVALID_MODEL}, of="FW-MDL-025")


def _set_value_from_memory() -> Misuses:
    table = Misuses("model_set_operand_value_from_memory")
    table.null("model", "memory")
    table.row("index", BAD_DATA, {"index": _NEGATIVE}, {"index": _FAR}, of="FW-MDL-017")
    table.row("length", BAD_DATA, {"length": 3}, {"length": 8}, {"length": 16}, {"length": 0}, of="FW-MDL-012")
    table.row("offset_behind_end", BAD_DATA, {"offset": 17}, {"offset": 1 << 31}, of="FW-MDL-017")
    table.row("end_behind_end", BAD_DATA, {"offset": 13}, {"offset": 16}, of="FW-MDL-017")
    unknown = {"model": _unknown(UNKNOWN_DIMENSION), "index": 0}
    table.row("unknown_dimension", BAD_DATA, unknown, of="FW-MDL-013")
    described = {"memory": _DESCRIBED, "index": 0, "length": 8}
    table.row("described_memory", BAD_DATA, described, of="FW-MDL-018", since=Version.V1_3)
    table.row(
        "hardware_buffer_of_pixels", BAD_DATA, {"memory": Object(memory_of_pixels)}, of="FW-MDL-018", since=Version.V1_2
    )
    _states(table)
    return table


def _set_value_from_model() -> Misuses:
    table = Misuses("model_set_operand_value_from_model", "FW-MDL-020")
    table.null("model", "value")
    table.row("value_unfinished", BAD_STATE, {"value": _BRANCH_IN_BUILDING})
    table.row("value_invalid", BAD_STATE, {"value": INVALID_MODEL})
    table.row("index", BAD_DATA, {"index": _NEGATIVE}, {"index": 5}, {"index": _FAR})
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    return table


def _scales(*, dimension: int = 0, count: int = 2, scales: tuple[float, ...] | None = (0.5, 0.25)) -> dict[str, object]:
    return {"channel_quant": PerChannelDescription(dimension, count, scales)}


def _set_scales() -> Misuses:
    table = Misuses("model_set_operand_symm_per_channel_quant_params", "FW-MDL-019")
    table.null("model", "channel_quant")
    table.row("index", BAD_DATA, {"index": _NEGATIVE}, {"index": 8}, {"index": _FAR})
    symmetric = OperandDescription(OperandType.TENSOR_QUANT8_SYMM, 4, FILTER.dimensions, 0.5)
    without_channels = {"model": Object(partial(per_channel_model, described=symmetric))}
    table.row("other_type", BAD_DATA, {"index": 1}, {"index": 3}, without_channels)
    table.row("channel_dimension", BAD_DATA, _scales(dimension=4), _scales(dimension=_FAR))
    table.row("scale_count", BAD_DATA, _scales(count=1, scales=(0.5,)), _scales(count=3, scales=(0.5, 0.5, 0.5)))
    table.row("scale_not_positive", BAD_DATA, _scales(scales=(0.5, -0.25)), _scales(scales=(0.0, 0.5)))
    # No argument of the call is null (FW-API-001), but a field of one: AOSP's runtime says BAD_DATA.
    table.row("null_scales", BAD_DATA, _scales(scales=None), others=(UNEXPECTED_NULL,))
    unknown = OperandDescription(FILTER.type, 4, (0, 1, 1, 1))
    model = {"model": Object(partial(per_channel_model, described=unknown))}
    table.row("unknown_channel_dimension", BAD_DATA, model, {**model, **_scales(count=0, scales=())})
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    return table


def _base_operand(app: RuntimeApp) -> Scene:
    """A model without operands of extensions, which can only be refused; it goes on to be built."""
    model = app.building_model()
    arguments = {"model": model, "index": 0, "data": place(app.memory, bytes(4)), "length": 4}
    return Scene(arguments, lambda answer: finish(app, model), is_legal=False)


def _set_extension_data() -> Misuses:
    table = Misuses("model_set_operand_extension_data", "FW-EXT-012", scene=_base_operand)
    table.null("model")
    table.row("null_data", UNEXPECTED_NULL, {"data": None})
    table.row("length_0", BAD_DATA, {"length": 0})
    table.row("index", BAD_DATA, {"index": _NEGATIVE}, {"index": 4}, {"index": _FAR})
    table.row("base_operand", BAD_DATA, {}, {"data": None, "length": 0})
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    return table


@_own.case("model_set_operand_value.oem_scalar", "FW-MDL-012")
def oem_scalar(context: CaseContext) -> None:
    """A scalar of the vendor's own type has a value of any length: NO_ERROR."""
    app = RuntimeApp(context)
    model = app.empty_model()
    for index, length in enumerate((1, 3, 200)):
        app.succeed("model_add_operand", model, OperandDescription(OperandType.OEM))
        app.succeed("model_set_operand_value", model, index, place(app.memory, bytes(length)), length)


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    for table in (
        _set_value(),
        _set_value_from_memory(),
        _set_value_from_model(),
        _set_scales(),
        _set_extension_data(),
    ):
        yield from table
