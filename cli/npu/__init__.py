"""Connects to a running NPU Manager: prints its table and its shell command."""
