"""Queries of a device: each answers, keeps its rules, and answers the same again.

AOSP asks for version string, type, extensions and cache files in the 1.2 suite only; here later versions answer too.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import files_needed
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import (
    DeviceStatus,
    DeviceType,
    OperandType,
)
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Extension
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition

cases = CaseGroup("vts.queries", group=Group.QUERIES)

_WITHOUT_PERFORMANCE = {OperandType.SUBGRAPH, OperandType.OEM, OperandType.TENSOR_OEM_BYTE}
"""Types that a framework need not know the performance of: those of graphs, and of a vendor's own."""

_EXTENSION_NAME = re.compile(r"[a-z0-9_.]+")


@cases.case("status.available", "NNHAL-QUERY-002", "NNHAL-QUERY-003", until=HIDL_LAST, scope=Scope.SMOKE)
def status_available(context: CaseContext) -> None:
    """An idle, healthy HIDL device is AVAILABLE."""
    checks.equal(context.device.get_status(), DeviceStatus.AVAILABLE, "getStatus of an idle device")


@cases.case("capabilities.positive", "NNHAL-QUERY-004", scope=Scope.SMOKE)
def capabilities_positive(context: CaseContext) -> None:
    """Every performance value that is reported is a number greater than zero."""
    for name, info in _performances(context.device.get_capabilities()):
        for field in ("exec_time", "power_usage"):
            value = getattr(info, field)
            checks.that(value > 0, f"{name}.{field}: expected > 0, found {value}")


@cases.case(
    "capabilities.fields_of_version", "NNHAL-QUERY-005", "NNHAL-QUERY-008", "NNHAL-QUERY-027", scope=Scope.SMOKE
)
def capabilities_fields(context: CaseContext) -> None:
    """The fields that the device's version defines are filled in."""
    capabilities = context.device.get_capabilities()
    for field in _required_fields(context.version):
        with checks.about(_rule_of_field(field)):
            checks.that(getattr(capabilities, field) is not None, f"capabilities.{field}: expected a value, found none")


@cases.case("capabilities.sorted_by_type", "NNHAL-QUERY-006", since=Version.V1_2)
def capabilities_sorted(context: CaseContext) -> None:
    """The performance list is sorted by operand type, with one entry for each type."""
    listed = [entry.type for entry in context.device.get_capabilities().operand_performance]
    checks.equal(listed, sorted(listed), "order of capabilities.operandPerformance")
    checks.equal(len(set(listed)), len(listed), "number of different types in capabilities.operandPerformance")


@cases.case("capabilities.no_subgraph", "NNHAL-QUERY-007", since=Version.V1_3)
def capabilities_without_subgraph(context: CaseContext) -> None:
    """SUBGRAPH has no performance of its own."""
    listed = [entry.type for entry in context.device.get_capabilities().operand_performance]
    checks.that(OperandType.SUBGRAPH not in listed, "capabilities.operandPerformance lists SUBGRAPH")


@cases.case("capabilities.known_types", "NNHAL-QUERY-009", since=Version.V1_2)
def capabilities_known_types(context: CaseContext) -> None:
    """Types in the performance list exist in the device's version; those that are left out are a warning."""
    listed = [entry.type for entry in context.device.get_capabilities().operand_performance]
    known = {kind for kind, info in OPERAND_TYPES.items() if info.since <= context.version}
    for kind in listed:
        checks.that(kind in known, f"capabilities.operandPerformance lists type {kind}, unknown to {context.version}")
    if omitted := [kind for kind in OperandType if kind in known - _WITHOUT_PERFORMANCE - set(listed)]:
        names = ", ".join(kind.name for kind in omitted)
        context.warn_quality(f"capabilities.operandPerformance leaves out {names}: they count as the slowest possible")


@cases.case("version_string.not_empty", "NNHAL-QUERY-011", since=Version.V1_2, scope=Scope.SMOKE)
def version_string(context: CaseContext) -> None:
    """The version string is not empty."""
    checks.that(bool(context.device.get_version_string()), "getVersionString: expected a text, found an empty one")


@cases.case("type.legal", "NNHAL-QUERY-013", since=Version.V1_2, scope=Scope.SMOKE)
def device_type(context: CaseContext) -> None:
    """The type is one of OTHER, CPU, GPU, ACCELERATOR."""
    checks.member(context.device.get_type(), set(DeviceType), "getType")


@cases.case("instance.name", "NNHAL-QUERY-014", since=Version.V1_2, until=HIDL_LAST)
def instance_name(context: CaseContext) -> None:
    """A HIDL instance is named vendor-device, with exactly one hyphen."""
    name = context.manifest.instance
    if not name:
        raise NotApplicable("the manifest names no HIDL instance")
    parts = name.split("-")
    checks.that(len(parts) == 2 and all(parts), f"instance name: expected vendor-device, found {name!r}")


def _extensions(context: CaseContext) -> tuple[Extension, ...]:
    """Those of the device; NotApplicable where it has none."""
    found = context.device.get_supported_extensions()
    if not found:
        raise NotApplicable("the device has no extensions")
    return found


@cases.case("extensions.names", "NNHAL-QUERY-017", "NNHAL-QUERY-018", "NNHAL-QUERY-025", since=Version.V1_2)
def extension_names(context: CaseContext) -> None:
    """Extension names are reverse domain names in small letters, each once."""
    names = [extension.name for extension in _extensions(context)]
    for name in names:
        shown = checks.format_value(name)
        checks.that(
            _is_extension_name(name),
            f"extension name: expected small letters, digits, _ and at least one ., found {shown}",
        )
    with checks.about("NNHAL-QUERY-025"):
        checks.equal(len(set(names)), len(names), "number of different extension names")


def _is_extension_name(name: str) -> bool:
    """Not by one expression of the parts: Python remembers each of them, and a name may have millions."""
    has_parts = "." in name and ".." not in name and "." not in (name[:1], name[-1:])
    return has_parts and _EXTENSION_NAME.fullmatch(name) is not None


@cases.case("extensions.operand_types", "NNHAL-QUERY-020", since=Version.V1_2)
def extension_operand_types(context: CaseContext) -> None:
    """Each operand type of an extension has a 16-bit number and a size that is not negative."""
    for extension in _extensions(context):
        name = checks.format_value(extension.name)
        for entry in extension.operand_types:
            what = f"extension {name}, operand type {entry.type}"
            checks.that(0 <= entry.type <= 0xFFFF, f"{what}: the number does not fit 16 bits")
            checks.that(entry.byte_size >= 0, f"{what}: byteSize {entry.byte_size} is negative")


@cases.case("cache_files.bounds", "NNHAL-QUERY-015", "NNHAL-QUERY-016", since=Version.V1_2)
def cache_files(context: CaseContext) -> None:
    """Each number of cache files is between 0 and 32."""
    files_needed(context.device)


@cases.case("interface.methods_of_version", "NNHAL-QUERY-022", "NNHAL-QUERY-024", "NNHAL-QUERY-023")
def methods_of_version(context: CaseContext) -> None:
    """Every query that the stated version has is implemented and does not fail."""
    for name, query in _queries(context):
        checks.works(query, name)


@cases.case("repeatability.same_answers", "NNHAL-QUERY-021")
def same_answers(context: CaseContext) -> None:
    """Each query gives the same answer every time."""
    for name, query in _queries(context):
        first = query()
        for _ in range(3):
            checks.equal(query(), first, f"{name}, asked again")


@cases.case("repeatability.after_restart", "NNHAL-QUERY-021", "NNHAL-QUERY-012")
def same_answers_after_restart(context: CaseContext) -> None:
    """A restart of the driver changes no answer: it is the same driver on the same device."""
    before = {name: query() for name, query in _queries(context)}
    context.restart()
    after = {name: query() for name, query in _queries(context)}
    for name, answer in before.items():
        checks.equal(after[name], answer, f"{name}, asked after a restart")


@cases.case("repeatability.after_other_calls", "NNHAL-QUERY-021", "NNHAL-QUERY-002")
def same_answers_after_other_calls(context: CaseContext) -> None:
    """Models that are rejected, prepared and executed change no answer, nor is the device busy when they are done."""
    before = {name: query() for name, query in _queries(context)}
    rejected = types.Model(main=types.Subgraph((), (), (), ()))
    for model in (rejected, addition.model(), rejected):
        _use(context, model)
        for name, query in _queries(context):
            checks.equal(query(), before[name], f"{name}, asked after other calls")
        if context.version <= HIDL_LAST:
            with checks.about("NNHAL-QUERY-002"):
                checks.equal(context.device.get_status(), DeviceStatus.AVAILABLE, "getStatus of an idle device")


def _use(context: CaseContext, model: types.Model) -> None:
    """Ask for support of a model, prepare and execute it, whatever comes of that."""
    with contextlib.suppress(ServiceError):
        context.device.get_supported_operations(model)
    prepared_model = context.prepare(model).prepared_model
    if prepared_model is not None:
        request = addition.request(context.pool(addition.POOL).memory)
        execute(context, prepared_model, request, measure=False)


@cases.case("liveness.ping", "NNHAL-QUERY-001", scope=Scope.SMOKE)
def ping(context: CaseContext) -> None:
    """The device answers, and its process is still there after the answer."""
    checks.works(context.device.get_capabilities, "getCapabilities")
    checks.that(context.subject.alive(), "the device's process is gone after an answer")


def _queries(context: CaseContext) -> list[tuple[str, Callable[[], Any]]]:
    names = (
        "get_capabilities",
        "get_version_string",
        "get_type",
        "get_supported_extensions",
        "get_number_of_cache_files_needed",
    )
    methods = describe(hal.Device)
    return [
        (methods[name].wire_name, getattr(context.device, name))
        for name in names
        if methods[name].mark.since <= context.version <= methods[name].mark.until
    ]


def _performances(capabilities: types.Capabilities) -> list[tuple[str, types.PerformanceInfo]]:
    named = [(name, getattr(capabilities, name)) for name in capabilities.__struct_fields__]
    single = [(name, value) for name, value in named if isinstance(value, types.PerformanceInfo)]
    listed = [(f"operandPerformance[{entry.type}]", entry.info) for entry in capabilities.operand_performance]
    return single + listed


def _rule_of_field(field: str) -> str:
    if field.startswith("relaxed_"):
        return "NNHAL-QUERY-005"
    return "NNHAL-QUERY-008" if field.startswith(("if_", "while_")) else "NNHAL-QUERY-027"


def _required_fields(version: Version) -> tuple[str, ...]:
    if version < Version.V1_1:
        return ("float32_performance", "quantized8_performance")
    if version < Version.V1_2:
        return ("float32_performance", "quantized8_performance", "relaxed_float32_to_float16_performance")
    relaxed = "relaxed_float32_to_float16_performance"
    fields = (f"{relaxed}_scalar", f"{relaxed}_tensor")
    return fields if version < Version.V1_3 else (*fields, "if_performance", "while_performance")
