"""Framework tests: what an app sees of the NPU Manager."""

AREAS = ("npu_manager", "npu_buffers")
