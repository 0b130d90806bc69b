"""Makes the reference's own extensions known to this process: their catalogues, and the kernels of their operations."""

from __future__ import annotations

from pathlib import Path

from npu_conformance.reference.device.registry import add_kernel
from npu_conformance.reference.extensions import kernels
from npu_conformance.specs.neuralnetworks import extensions
from npu_conformance.specs.neuralnetworks.catalogue import operation_code
from npu_conformance.specs.neuralnetworks.extensions import OwnExtension

_FOLDER = Path(__file__).resolve().parent
CATALOGUES = (_FOLDER / "fibonacci", _FOLDER / "echo")
"""The second builds on types of the first."""


def use(count: int = len(CATALOGUES)) -> tuple[OwnExtension, ...]:
    """Use the first `count` extensions from now on: codes of their operations are known, and computed."""
    return tuple(_with_kernels(extensions.use(folder)) for folder in CATALOGUES[:count])


def in_use() -> tuple[OwnExtension, ...]:
    """Those that are in use already, by somebody's wish; a process that is shared learns of no others."""
    return tuple(_with_kernels(one) for one in extensions.all_in_use() if one.folder in CATALOGUES)


def _with_kernels(extension: OwnExtension) -> OwnExtension:
    for name in extension.operations:
        add_kernel(operation_code(name), kernels.KERNELS[name])
    return extension
