"""Models and hints of extensions, for the cases."""
