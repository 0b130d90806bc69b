"""Runs the suites from pytest, through the same engine as the command."""
