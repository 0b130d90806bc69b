"""Runs cases against an implementation; each package here knows only those below it (see pyproject.toml)."""
