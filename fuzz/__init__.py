"""Fuzzers: hostile models for drivers and hostile lines for the wire, short in every run and endless on demand."""

AREAS = ("manager", "models", "requests", "runtime", "scheduling", "wire")
