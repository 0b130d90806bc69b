"""Runs cases: declares, selects and executes them, records what happens, and draws the conclusion."""
