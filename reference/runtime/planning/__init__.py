"""Devices, partitions, plans, fallback, caches and memory domains of the reference runtime."""
