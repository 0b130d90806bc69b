"""The buffers of the reference NPU Manager: heaps, allocators, and preemption."""
