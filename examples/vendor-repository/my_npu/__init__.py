"""A driver of one's own; driver.py is where it starts."""
