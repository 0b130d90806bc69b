"""Queries of devices."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal.devices import UNKNOWN_EXTENSION
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, Misuses, Object
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.c_names import c_name
from npu_conformance.specs.versions import Version

_OPTIONAL = {
    "functions",
    "memory_create_from_a_hardware_buffer",
    "device_get_extension_support",
    "model_get_extension_operand_type",
    "model_get_extension_operation_type",
    "model_set_operand_extension_data",
    "compilation_add_extension_attribute",
    "execution_add_extension_attribute",
}
"""What a library for another system than Android, or without vendor extensions, need not have, or is no function."""

_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_QUERIES)


@_own.case("functions.of_the_feature_level", "FW-API-007")
def functions_of_the_feature_level(context: CaseContext) -> None:
    """The runtime has every function of its feature level; a function of a later one is a quality warning."""
    app = RuntimeApp(context)
    present = set(app.runtime.functions())
    needed = {name for name, function in describe(Runtime).items() if function.mark.since <= app.level}
    missing = sorted(map(c_name, needed - present - _OPTIONAL))
    checks.equal(missing, [], f"functions of {app.level} that are missing")
    early = sorted(present - needed)
    if early:
        context.warn_quality(f"functions of later feature levels than {app.level}: {' '.join(map(c_name, early))}")


@_own.case("device_get_extension_support.unknown_name", "FW-EXT-011", since=Version.V1_2)
def unknown_extension(context: CaseContext) -> None:
    """No device supports an extension that nobody has: false, and NO_ERROR."""
    app = RuntimeApp(context)
    for device in app.devices():
        answer = app.succeed("device_get_extension_support", device, UNKNOWN_EXTENSION, True)
        checks.equal(answer.value, False, "support of an unknown extension")


def _tables() -> Iterator[Misuses]:
    for function, *parameters in (
        ("get_device_count", "num_devices"),
        ("device_get_name", "device", "name"),
        ("device_get_version", "device", "version"),
        ("device_get_type", "device", "type"),
        ("device_get_feature_level", "device", "feature_level"),
        ("device_wait", "device"),
        ("device_get_extension_support", "device", "extension_name", "is_supported"),
    ):
        table = Misuses(function, group=Group.RUNTIME_QUERIES)
        table.null(*parameters)
        yield table
    device = Misuses("get_device", "FW-DEV-001", group=Group.RUNTIME_QUERIES)
    device.null("device")
    device.row("index_is_count", BAD_DATA, {"index": Object(lambda app: len(app.devices()))})
    yield device


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    for table in _tables():
        yield from table
