"""The npu scheduling HAL and the NPU Manager: types and interfaces."""
