"""The simulated NPU."""
