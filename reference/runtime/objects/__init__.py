"""The objects of the NNAPI C API, with the rules that hold before a device is asked. They know nothing of handles."""
