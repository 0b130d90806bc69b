"""The plug-in `tflm`: TensorFlow Lite for Microcontrollers, presented as a vendor's driver.

It has kernels of its own for a part of .tflite; an operation without one is not supported. `pip install
npu-conformance[tflm]` brings it (and LiteRT, whose schema and shape inference the lowering uses).
"""

from __future__ import annotations

from npu_conformance.adapters.engine import engine_plugin
from npu_conformance.adapters.tflm_engine import TflmEngine

plugin = engine_plugin(TflmEngine(), vendor="TensorFlow Lite for Microcontrollers")
"""TFLM. Option: `hal`, the version it serves."""
