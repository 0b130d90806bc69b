"""The implementation under test: loading, isolation, its processes, its memory and its files."""
