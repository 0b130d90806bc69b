"""The reference NNAPI runtime: the C API (`api`), and what is behind it: devices, plans, fallback, caching."""
