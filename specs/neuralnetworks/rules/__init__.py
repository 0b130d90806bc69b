"""Constraints and output shapes, one file per operation."""
