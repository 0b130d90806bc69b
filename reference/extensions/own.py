"""Makes the reference's own extensions known to this process: their catalogues, and the kernels of their operations."""

from __future__ import annotations

from pathlib import Path

from npu_conformance.reference.device.registry import add_kernel
from npu_conformance.reference.extensions import kernels
from npu_conformance.specs.neuralnetworks import extensions, registered_extensions
from npu_conformance.specs.neuralnetworks.catalogue import operation_code
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension

_FOLDER = Path(__file__).resolve().parent
CATALOGUES = (_FOLDER / "fibonacci", _FOLDER / "echo")
"""The second builds on types of the first."""


def register(count: int = len(CATALOGUES)) -> tuple[RegisteredExtension, ...]:
    """Register the first `count` extensions from now on: codes of their operations are known, and computed."""
    return tuple(_with_kernels(extensions.register(folder)) for folder in CATALOGUES[:count])


def registered() -> tuple[RegisteredExtension, ...]:
    """Those that are registered already; a process that is shared gets no others."""
    known = registered_extensions.all_registered()
    return tuple(_with_kernels(extension) for extension in known if extension.folder.resolve() in CATALOGUES)


def unregistered() -> set[str]:
    """The names of those that this process does not know: nothing computes their operations."""
    names = {f"com.npu_conformance.{folder.name}" for folder in CATALOGUES}
    return names - {extension.listed.name for extension in registered()}


def _with_kernels(extension: RegisteredExtension) -> RegisteredExtension:
    for name in extension.operations:
        add_kernel(operation_code(name), kernels.KERNELS[name])
    return extension
