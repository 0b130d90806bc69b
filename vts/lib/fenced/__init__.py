"""Fenced executions as the cases launch them."""
