"""Holds the implementation under test: its loading, its isolation, its processes, its memory and its files."""
