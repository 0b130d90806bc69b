"""The Neural Networks HAL: types, interfaces, operations, rules."""
