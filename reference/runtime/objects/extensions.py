"""Vendor extensions in one process: who may use them, prefixes of their names, operand types that drivers describe."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from npu_conformance.reference.runtime.backend import RuntimeDevice, RuntimeFailure
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, EXTENSION_TYPE_LOW_BITS
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, element_count
from npu_conformance.specs.neuralnetworks.runtime.control import AppProcess
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import (
    Extension,
    ExtensionNameAndPrefix,
    ExtensionOperandTypeInformation,
)

LAST_PREFIX = 2**15 - 1
_APP_BINARIES = ("app_process32", "app_process64")
_VENDOR_FOLDERS = ("/vendor/", "/odm/", "/data/")


class Extensions:
    """What a process knows of extensions. process: who the app is; None for one that may use them."""

    def __init__(self, devices: Iterable[RuntimeDevice], process: AppProcess | None = None) -> None:
        self.process = process
        self._prefixes: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._described = described(devices)

    def are_allowed(self) -> bool:
        """Whether the process may use extensions (FW-EXT-001)."""
        return self.process is None or may_use_extensions(self.process)

    def code(self, name: str, code_within_extension: int) -> int:
        """The code of an operation or operand type in this process (FW-EXT-003). The name need not be known yet."""
        return self._prefix(name) << EXTENSION_TYPE_LOW_BITS | (code_within_extension & BASE_TYPE_MAX)

    def _prefix(self, name: str) -> int:
        if name not in self._prefixes:
            prefix = len(self._prefixes) + 1
            if prefix > LAST_PREFIX:
                raise RuntimeFailure(ResultCode.BAD_DATA, "there are too many extensions")
            self._prefixes[name] = prefix
            self._names[prefix] = name
        return self._prefixes[name]

    def has_prefix(self, code: int) -> bool:
        """Whether the prefix in a code has been given out."""
        return code >> EXTENSION_TYPE_LOW_BITS in self._names

    def operand_type(self, code: int) -> ExtensionOperandTypeInformation | None:
        """What drivers say of an extension's operand type; None where none does."""
        types = self._described.get(self._names.get(code >> EXTENSION_TYPE_LOW_BITS, ""), ())
        wanted = code & BASE_TYPE_MAX
        return next((one for one in types if one.type == wanted), None)

    def used(self, codes: Iterable[int]) -> tuple[ExtensionNameAndPrefix, ...]:
        """The extensions that codes belong to (FW-EXT-005)."""
        prefixes = sorted({code >> EXTENSION_TYPE_LOW_BITS for code in codes if is_extension(code)})
        return tuple(ExtensionNameAndPrefix(self._names[prefix], prefix) for prefix in prefixes)

    def is_tensor(self, operand_type: int) -> bool:
        """Whether an operand type, of the standard or of an extension, is a tensor's."""
        if is_extension(operand_type):
            described_type = self.operand_type(operand_type)
            return described_type is not None and described_type.is_tensor
        return OPERAND_TYPES[operand_type].is_tensor

    def byte_size(self, operand_type: int, dimensions: tuple[int, ...]) -> int:
        """Bytes of a value; 0 where a dimension or the size of its type is not known."""
        if is_extension(operand_type):
            described_type = self.operand_type(operand_type)
            size, is_tensor = (described_type.byte_size, described_type.is_tensor) if described_type else (0, True)
        else:
            size, is_tensor = OPERAND_TYPES[operand_type].size, OPERAND_TYPES[operand_type].is_tensor
        return 0 if is_tensor and not dimensions else size * element_count(dimensions)


def is_extension(code: int) -> bool:
    """Whether an operation or operand type is of an extension."""
    return code > BASE_TYPE_MAX


def described(devices: Iterable[RuntimeDevice]) -> dict[str, Sequence[ExtensionOperandTypeInformation]]:
    """The operand types of each extension. One that two devices describe differently is disabled (FW-EXT-004)."""
    found: dict[str, Extension] = {}
    disabled = set()
    for extension in (extension for device in devices for extension in device.extensions):
        known = found.setdefault(extension.name, extension)
        if sorted_types(known) != sorted_types(extension):
            disabled.add(extension.name)
    return {name: extension.operand_types for name, extension in found.items() if name not in disabled}


def sorted_types(extension: Extension) -> list[ExtensionOperandTypeInformation]:
    """The operand types of an extension, in an order of their own: that of the list means nothing."""
    return sorted(extension.operand_types, key=lambda one: (one.type, one.is_tensor, one.byte_size))


def may_use_extensions(process: AppProcess) -> bool:
    """Whether a process may use extensions (FW-EXT-001, -002, -009, -010)."""
    if posixpath.basename(process.binary) in _APP_BINARIES:
        return process.package in listed(process.allowlist) and _has_place_of_app(process)
    return process.binary in listed(process.allowlist) and _has_place_of_program(process)


def listed(lines: Iterable[str]) -> frozenset[str]:
    """The entries of an allowlist: paths, which begin with a slash, and packages, which have a dot (FW-EXT-002)."""
    stripped = (line.strip() for line in lines)
    return frozenset(line for line in stripped if line.startswith("/") or "." in line)


def _has_place_of_app(process: AppProcess) -> bool:
    if not process.is_system_app or process.on_vendor_image:
        return True
    return process.on_product_image and process.allows_product


def _has_place_of_program(process: AppProcess) -> bool:
    if process.binary.startswith(_VENDOR_FOLDERS):
        return True
    return process.binary.startswith("/product/") and process.allows_product
