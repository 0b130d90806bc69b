"""A device of the NNAPI runtime as a hal.Device, so that the tests of drivers run on what only shows the C API."""
