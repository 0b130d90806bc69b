"""A conformance suite for NPU drivers and managers: Android's NN HAL, NPU scheduling HAL and NPU Manager."""

__version__ = "0.1.0"
