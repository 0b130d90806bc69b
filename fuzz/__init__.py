"""Fuzzers: hostile input for drivers, the wire and the suite itself, short in every run and endless on demand."""

AREAS = ("burst", "documents", "manager", "models", "requests", "runtime", "scheduling", "wire")
