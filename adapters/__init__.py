"""Plug-ins for implementations that exist."""
