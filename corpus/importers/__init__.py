"""Vectors from outside: AOSP's specifications, collections of JSON lines, and .tflite models."""
