"""Implementations wrong on purpose, which prove that the suites can see."""
