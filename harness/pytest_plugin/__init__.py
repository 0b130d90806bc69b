"""pytest as a front door of the engine."""
