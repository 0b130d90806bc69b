"""Lowering of NNAPI graphs to ONNX, by families of operations."""
