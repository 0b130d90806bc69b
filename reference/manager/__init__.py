"""The NPU Manager."""
