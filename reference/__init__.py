"""A small, readable NPU Manager with its buffers, NNAPI runtime, NN HAL, NPU scheduling HAL and simulated device."""
