"""Independent arithmetic for expected values, one file per operation, written apart from the kernels."""
