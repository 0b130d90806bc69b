"""The Neural Networks HAL and the npu scheduling HAL over the simulated device."""
