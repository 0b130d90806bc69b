"""Faults in a device's answers about itself."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from typing import NoReturn

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.factories import fault, faulty_device
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import DeviceStatus, ErrorStatus, OperandType
from npu_conformance.specs.versions import Version

_INFO = types.PerformanceInfo(1.0, 1.0)
Change = Callable[[types.Capabilities], types.Capabilities]


def _listing(change: Callable[[tuple[types.OperandPerformance, ...]], tuple[types.OperandPerformance, ...]]) -> Change:
    return lambda capabilities: replace(capabilities, operand_performance=change(capabilities.operand_performance))


def _capabilities(change: Change) -> type[FaultyDevice]:
    class Device(FaultyDevice):
        def get_capabilities(self) -> types.Capabilities:
            return change(self.inner.get_capabilities())

    return Device


class _Offline(FaultyDevice):
    def get_status(self) -> int:
        return DeviceStatus.OFFLINE


class _NoVersion(FaultyDevice):
    def get_version_string(self) -> str:
        return ""


class _UnknownType(FaultyDevice):
    def get_type(self) -> int:
        return 7


class _TypeFails(FaultyDevice):
    def get_type(self) -> NoReturn:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "not now")


class _ManyCacheFiles(FaultyDevice):
    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        return types.NumberOfCacheFiles(33, 0)


class _CountsItsCalls(FaultyDevice):
    _calls = 0

    def get_version_string(self) -> str:
        self._calls += 1
        return f"build {self._calls}"


class _NamesItsProcess(FaultyDevice):
    def __init__(self, inner: hal.Device) -> None:
        super().__init__(inner)
        self._name = secrets.token_hex(8)

    def get_version_string(self) -> str:
        return self._name


class _ShoutingExtension(FaultyDevice):
    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        return (types.Extension("com.Vendor.EXTENSION"),)


class _TwiceTheExtension(FaultyDevice):
    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        return (types.Extension("com.vendor.extension"),) * 2


class _WideExtensionType(FaultyDevice):
    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        wide = types.ExtensionOperandTypeInformation(0x10000, True, 4)
        return (types.Extension("com.vendor.extension", (wide,)),)


_fault = functools.partial(fault, family="query", area="vts.queries")

FAULTS = (
    _fault("status-offline", "An idle device says it is offline.", "NNHAL-QUERY-002", "status.available", _Offline,
           Version.V1_3),
    _fault("capabilities-zero", "A performance value is 0.", "NNHAL-QUERY-004", "capabilities.positive",
           _capabilities(lambda known: replace(known, if_performance=types.PerformanceInfo(0.0, 1.0)))),
    _fault("capabilities-missing", "A field that the version requires is absent.", "NNHAL-QUERY-008",
           "capabilities.fields_of_version", _capabilities(lambda known: replace(known, while_performance=None))),
    _fault("capabilities-unsorted", "The performance list is in no order.", "NNHAL-QUERY-006",
           "capabilities.sorted_by_type", _capabilities(_listing(lambda listed: listed[::-1]))),
    _fault("capabilities-doubled", "A type is listed twice.", "NNHAL-QUERY-006", "capabilities.sorted_by_type",
           _capabilities(_listing(lambda listed: (listed[0], *listed)))),
    _fault("capabilities-subgraph", "SUBGRAPH has a performance.", "NNHAL-QUERY-007", "capabilities.no_subgraph",
           _capabilities(_listing(lambda listed: (*listed, types.OperandPerformance(OperandType.SUBGRAPH, _INFO))))),
    _fault("capabilities-later-type", "A 1.2 driver lists a type of 1.3.", "NNHAL-QUERY-009",
           "capabilities.known_types", _capabilities(_listing(lambda listed: (
               *listed, types.OperandPerformance(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, _INFO)))), Version.V1_2),
    _fault("capabilities-of-no-type", "The performance of no type is told: each counts as the slowest possible.",
           "NNHAL-QUERY-009", "capabilities.known_types", _capabilities(_listing(lambda _: ())),
           detected_as="quality-warning"),
    _fault("version-string-empty", "The version string is empty.", "NNHAL-QUERY-011", "version_string.not_empty",
           _NoVersion),
    _fault("type-unknown", "The device type is 7.", "NNHAL-QUERY-013", "type.legal", _UnknownType),
    _fault("type-fails", "getType fails with GENERAL_FAILURE.", "NNHAL-QUERY-022", "interface.methods_of_version",
           _TypeFails),
    _fault("cache-files", "33 cache files are wanted.", "NNHAL-QUERY-015", "cache_files.bounds", _ManyCacheFiles),
    _fault("extension-name", "An extension name has capital letters.", "NNHAL-QUERY-017", "extensions.names",
           _ShoutingExtension),
    _fault("extension-twice", "An extension is listed twice.", "NNHAL-QUERY-025", "extensions.names",
           _TwiceTheExtension),
    _fault("extension-type", "An extension's operand type needs 17 bits.", "NNHAL-QUERY-020",
           "extensions.operand_types", _WideExtensionType),
    _fault("answers-change", "The version string counts how often it was asked for.", "NNHAL-QUERY-021",
           "repeatability.same_answers", _CountsItsCalls),
    _fault("answers-change-after-restart", "The version string names the process.", "NNHAL-QUERY-012",
           "repeatability.after_restart", _NamesItsProcess),
    _fault("instance-name", "The HIDL instance is called default.", "NNHAL-QUERY-014", "instance.name",
           FaultySubject(faulty_device(FaultyDevice).create, instance="default"), Version.V1_3),
)  # fmt: skip
"""Faults in the answers to queries."""
