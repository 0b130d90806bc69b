"""The command npu-conformance: one file a command, on top of all the other rooms. Nobody imports it."""
