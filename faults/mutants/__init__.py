"""Automatic source mutants of the reference: small edits that nobody thought of, to measure what the cases see."""
