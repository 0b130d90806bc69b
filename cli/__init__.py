"""The command npu-conformance: one file for each command, above all the other packages, none of which imports it."""
