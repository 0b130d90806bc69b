"""The reference runtime on top of a driver: in its process, or in front of a driver elsewhere."""
