"""Benchmarks: `python -m benchmarks`. Ratios within one run; what is measured and what came out: docs/benchmarks.md."""
