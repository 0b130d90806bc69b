"""Implementations that are wrong on purpose, to prove that the suites detect violations."""
