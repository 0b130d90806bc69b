"""Fuzzers: hostile models for drivers and hostile lines for the wire, short in every run and endless on demand."""

AREAS = ("burst", "manager", "models", "requests", "scheduling", "wire")
