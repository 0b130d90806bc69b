"""Runs cases against an implementation; each package here imports only those below it (see pyproject.toml)."""
