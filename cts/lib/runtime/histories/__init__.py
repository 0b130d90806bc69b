"""Histories of one app of a runtime: what lives, where its data lie, what it does, and what has to come of it."""
