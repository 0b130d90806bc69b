"""Random histories of one driver: models, memory, and objects that live beside each other."""
