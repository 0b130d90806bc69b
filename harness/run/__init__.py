"""A run: cases, selection, the engine, what it records, and what that comes to."""
