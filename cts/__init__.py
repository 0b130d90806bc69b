"""Framework tests: the NNAPI runtime as apps see it, and the NPU Manager, its decisions and its buffers."""

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
    "introspection",
    "partitioning",
    "random_partitioning",
    "failing_drivers",
    "caching",
    "version_adaptation",
    "extensions",
)
