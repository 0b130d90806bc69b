"""Drivers that behave as a script says: what tests of a runtime are made with."""
