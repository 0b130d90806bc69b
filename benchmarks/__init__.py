"""Benchmarks: `python -m benchmarks`. They measure ratios within one run; the results are in docs/benchmarks.md."""
