"""Vendor extensions in the reference runtime: who may use them, codes, types that drivers describe."""

from __future__ import annotations

import pytest
from nnapi_app import VECTOR, App, ScriptedDevice, succeed

from npu_conformance.reference.runtime.objects.extensions import described, may_use_extensions
from npu_conformance.reference.runtime.objects.model import Model
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import AppProcess
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import (
    Extension,
    ExtensionNameAndPrefix,
    ExtensionOperandTypeInformation,
)

BAD_DATA, NULL = ResultCode.BAD_DATA, ResultCode.UNEXPECTED_NULL
NAME = "com.vendor.sparse"
SPARSE = Extension(NAME, (ExtensionOperandTypeInformation(0, False, 8), ExtensionOperandTypeInformation(1, True, 2)))
APP, PROGRAM = "/system/bin/app_process64", "/vendor/bin/camera"


@pytest.mark.parametrize(
    ("process", "allowed"),
    [
        (AppProcess(PROGRAM, allowlist=(PROGRAM,)), True),
        (AppProcess(PROGRAM), False),
        (AppProcess("/system/bin/camera", allowlist=("/system/bin/camera",)), False),
        (AppProcess("/odm/bin/a", allowlist=("/odm/bin/a",)), True),
        (AppProcess("/data/a", allowlist=(" /data/a\n",)), True),
        (AppProcess("/product/a", allowlist=("/product/a",)), True),
        (AppProcess("/product/a", allowlist=("/product/a",), allows_product=False), False),
        (AppProcess("/vendor/a", allowlist=("/vendor",)), False),
        (AppProcess(APP, "com.vendor.app", allowlist=("com.vendor.app",)), True),
        (AppProcess(APP, "com.vendor.app", allowlist=(APP,)), False),
        (AppProcess(APP, "app", allowlist=("app",)), False),
        (AppProcess(APP, "a.b", is_system_app=True, allowlist=("a.b",)), False),
        (AppProcess(APP, "a.b", is_system_app=True, on_vendor_image=True, allowlist=("a.b",)), True),
        (AppProcess(APP, "a.b", is_system_app=True, on_product_image=True, allowlist=("a.b",)), True),
        (
            AppProcess(APP, "a.b", is_system_app=True, on_product_image=True, allowlist=("a.b",), allows_product=False),
            False,
        ),
    ],
)
def test_who_may_use_extensions(process: AppProcess, allowed: bool) -> None:
    assert may_use_extensions(process) is allowed


def test_extensions_that_devices_describe_differently_are_disabled() -> None:
    turned = Extension(NAME, SPARSE.operand_types[::-1])
    other = Extension(NAME, SPARSE.operand_types[:1])
    alone = ScriptedDevice("a", extensions=(SPARSE,))
    assert NAME in described([alone, ScriptedDevice("b", extensions=(turned,))])
    assert NAME not in described([alone, ScriptedDevice("b", extensions=(other,))])


def app_with_extension() -> App:
    return App(devices=[ScriptedDevice("a", extensions=(SPARSE,)), ScriptedDevice("b", is_cpu=True)])


def test_codes_and_types() -> None:
    app = app_with_extension()
    runtime, model = app.runtime, app.model()
    assert runtime.model_get_extension_operand_type(model, None, 0, True).result == NULL
    scalar = runtime.model_get_extension_operand_type(model, NAME, 0, True).value
    tensor = runtime.model_get_extension_operand_type(model, NAME, 1, True).value
    unknown = runtime.model_get_extension_operand_type(model, "com.vendor.other", 0, True).value
    assert (scalar, tensor, unknown) == (1 << 16, 1 << 16 | 1, 2 << 16)
    succeed(runtime.model_add_operand(model, OperandDescription(scalar)))
    succeed(runtime.model_add_operand(model, OperandDescription(tensor, 1, (3,))))
    for wrong in (
        OperandDescription(scalar, 1, (1,)),
        OperandDescription(tensor, 1, (1,), 1.0),
        OperandDescription(tensor + 1, 1, (1,)),
        OperandDescription(unknown),
    ):
        assert runtime.model_add_operand(model, wrong) == BAD_DATA
    assert runtime.model_set_operand_value(model, 1, app.at(0), 5) == BAD_DATA
    succeed(runtime.model_set_operand_value(model, 1, app.at(0), 6))


def test_data_of_operands() -> None:
    app = app_with_extension()
    runtime, model = app.runtime, app.model(VECTOR)
    scalar = runtime.model_get_extension_operand_type(model, NAME, 0, True).value
    succeed(runtime.model_add_operand(model, OperandDescription(scalar)))
    setter = runtime.model_set_operand_extension_data
    assert setter(model, 1, None, 4) == NULL
    assert setter(model, 1, app.at(0), 0) == setter(model, 0, app.at(0), 4) == setter(model, 2, None, 0) == BAD_DATA
    succeed(setter(model, 1, app.at(0, b"abcd"), 4))
    extra = runtime.handles.get(Model, model).operands[1].extra_params
    assert extra is not None
    assert extra.extension == b"abcd"
    succeed(setter(model, 1, None, 0))
    assert runtime.handles.get(Model, model).operands[1].extra_params is None


def test_a_model_lists_the_extensions_that_it_uses() -> None:
    app = app_with_extension()
    runtime, model = app.runtime, app.model(VECTOR, VECTOR)
    runtime.model_get_extension_operation_type(model, "com.vendor.unused", 0, True)
    operation = runtime.model_get_extension_operation_type(model, NAME, 5, True).value
    succeed(runtime.model_add_operation(model, operation, (0,), (1,)))
    succeed(runtime.model_identify_inputs_and_outputs(model, (0,), (1,)))
    succeed(runtime.model_finish(model))
    wire = runtime.handles.get(Model, model).check_finished().wire
    assert wire.extension_name_to_prefix == (ExtensionNameAndPrefix(NAME, 2),)


def test_a_process_that_may_not_use_extensions() -> None:
    app = app_with_extension()
    runtime, model = app.runtime, app.model(VECTOR, VECTOR)
    scalar = runtime.model_get_extension_operand_type(model, NAME, 0, True).value
    app.environment.extensions.process = AppProcess("/system/bin/a")
    assert runtime.model_add_operand(model, OperandDescription(scalar)) == BAD_DATA
    assert runtime.model_add_operation(model, scalar, (0,), (1,)) == BAD_DATA
    succeed(runtime.model_add_operation(model, OperationType.RELU, (0,), (1,)))
