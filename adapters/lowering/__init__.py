"""From an NNAPI model to a .tflite flatbuffer: one function for each operation or family, named by operation."""
