"""A driver with an extension of its own, built on the reference; found with this folder in PYTHONPATH.

cd examples/extension
PYTHONPATH=. npu-conformance run vts.extension --plugin driver:plugin --catalogue catalogue
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy

from npu_conformance.reference.device.quantization import real, round_half_away, store
from npu_conformance.reference.device.registry import add_kernel
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import catalogue, extensions
from npu_conformance.specs.neuralnetworks.types import Extension, ExtensionOperandTypeInformation
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version

CATALOGUE = Path(__file__).parent / "catalogue"
EXTENSION = Extension("com.example.npu", (ExtensionOperandTypeInformation(type=0, is_tensor=True, byte_size=2),))


def clamp(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = min(max(input, low), high)."""
    values, low, high = (real(required(tensor)) for tensor in inputs)
    return (store(numpy.clip(values, low, high), outputs[0]),)


def requantize(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """The same real values in the quantisation of the output."""
    source = required(inputs[0])
    scale, zero_point = struct.unpack("<dq", source.extension)
    new_scale, new_zero_point = struct.unpack("<dq", outputs[0].extension)
    values = (source.data.astype(numpy.float64) - zero_point) * scale
    stored = round_half_away(values / new_scale) + new_zero_point
    return (numpy.clip(stored, -32768, 32767).astype(numpy.int16),)


class ExampleDevice(ReferenceDevice):
    """The reference with com.example.npu. It takes signatures and rules of its operations from the catalogue."""

    def __init__(self, context: Context, version: Version) -> None:
        super().__init__(context, version)
        extensions.register(CATALOGUE)
        add_kernel(catalogue.operation_code("EXAMPLE_CLAMP"), clamp)
        add_kernel(catalogue.operation_code("EXAMPLE_REQUANTIZE"), requantize)

    def get_supported_extensions(self) -> tuple[Extension, ...]:
        """The one extension, with its operand type."""
        return (EXTENSION,)


def _version(options: Mapping[str, str]) -> Version:
    return versions.parse(options.get("hal", NEWEST.value))


def manifest(options: Mapping[str, str]) -> Manifest:
    """The manifest of the plug-in."""
    return Manifest(
        name="example-extension",
        vendor="example",
        version="1",
        hal_version=_version(options),
        options={"hal": "version of the Neural Networks HAL, 1.0 to fl8 (default: the newest)"},
    )


plugin = Plugin(manifest, lambda context: Subject(device=ExampleDevice(context, _version(context.options))))
"""The example driver. Option `hal`: its version."""
