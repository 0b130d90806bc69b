"""Fuzzers: hostile input for drivers, the wire and the suite itself, short in every run and endless on demand."""

AREAS = (
    "burst", "cache", "differential", "documents", "lines", "manager", "memory_domain", "models", "requests", "runtime",
    "scheduling", "wire",
)  # fmt: skip
