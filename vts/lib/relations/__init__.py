"""What metamorphic relations are written with."""
