"""HAL tests: what AOSP's VtsHalNeuralnetworks asks of a driver, and what it leaves out."""

AREAS = (
    "queries",
    "validation",
    "versions",
    "structure",
    "preparation",
    "control_flow",
    "coupling",
    "requests",
    "request_structure",
    "memory",
    "memory_domains",
    "burst",
    "executions",
    "messages",
    "robustness",
    "generated",
    "relations",
    "external",
    "extensions",
    "extension",
)
