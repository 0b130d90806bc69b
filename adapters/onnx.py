"""The plug-in `onnx`: the ONNX reference evaluator, presented as a vendor's driver.

Its numpy kernels are written for another standard. `pip install npu-conformance[onnx]` brings it.
"""

from __future__ import annotations

from npu_conformance.adapters.engine import engine_plugin
from npu_conformance.adapters.onnx_engine import OnnxEngine

plugin = engine_plugin(OnnxEngine(), vendor="ONNX")
"""The ONNX reference evaluator. Option: `hal`, the version it serves."""
