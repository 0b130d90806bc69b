"""Any shared library that exports the NNAPI as a plug-in: `--plugin path/libneuralnetworks.so` (docs/nnapi-c.md)."""
