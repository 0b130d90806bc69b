"""Fuzzers of models and wire bytes."""
