"""A client of the NNAPI runtime: memory of the caller's own, models built from wire models, executions of requests."""
