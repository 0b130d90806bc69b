"""Automatic source mutants of the reference: small edits that nobody chose, which measure what the cases detect."""
