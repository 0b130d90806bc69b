"""The test side of a vendor's own extension: its oracles and its vectors, and what holds them against its tables."""
