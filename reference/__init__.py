"""A small, readable NPU Manager, NNAPI runtime, HAL and simulated device."""
