"""A small, readable NPU Manager, NN HAL, NPU scheduling HAL and simulated device."""
