"""Framework tests: what an app sees of the NPU Manager, its decisions and its buffers."""

AREAS = (
    "npu_manager",
    "npu_buffers",
    "generated",
    "external",
    "memory",
    "unknown_dimensions",
    "control_flow",
    "executions",
    "quality_of_service",
    "concurrency",
    "misuse",
    "states",
    "random_calls",
)
