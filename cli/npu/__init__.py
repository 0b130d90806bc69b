"""A look into an NPU Manager that runs, and a word with it."""
