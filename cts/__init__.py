"""Framework tests: what an app sees of the NPU Manager and the NNAPI runtime."""

AREAS = ("npu_manager", "npu_buffers")
