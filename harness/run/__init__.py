"""Runs cases: declares, selects and executes them, records what happens, and says what it comes to."""
