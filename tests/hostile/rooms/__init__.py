"""Hostile kinds by where they act: one module a room, each with the table of its kinds."""
