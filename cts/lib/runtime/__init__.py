"""An app of the NNAPI runtime, as the cases of its C API drive it."""
