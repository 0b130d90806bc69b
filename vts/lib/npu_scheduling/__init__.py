"""The scheduling HAL as the cases use it."""
