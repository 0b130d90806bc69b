"""A small, readable NPU Manager, driver of both HALs, and simulated device."""
