"""Carries messages, objects and memory to and from an implementation in another process."""
