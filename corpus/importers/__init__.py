"""Vectors from outside: AOSP's specifications, and collections of JSON lines."""
