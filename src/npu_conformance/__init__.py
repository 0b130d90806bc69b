"""A conformance suite for NPU drivers and frameworks: Android NN HAL, NNAPI, NPU scheduling HAL and NPU Manager."""

__version__ = "0.1.0"
