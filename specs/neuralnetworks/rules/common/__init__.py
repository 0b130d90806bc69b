"""Checks and shapes that several operations share."""
