"""Compilation caching as the cases use it."""
