"""HAL tests: what AOSP's VtsHalNeuralnetworks asks of a driver, and what it leaves out."""

AREAS = (
    "queries",
    "validation",
    "versions",
    "structure",
    "preparation",
    "control_flow",
    "quality_of_service",
    "coupling",
    "requests",
    "request_structure",
    "memory",
    "memory_domains",
    "burst",
    "messages",
    "robustness",
    "generated",
    "relations",
    "external",
    "extensions",
    "extension",
)
