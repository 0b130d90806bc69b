"""Random histories of models of any operation, whose results are known for some requests."""
