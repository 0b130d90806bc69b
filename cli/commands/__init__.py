"""The commands of npu-conformance, one file each."""
