"""The test corpus: vectors, oracles, generators, variations, strategies and importers. It imports `specs` alone."""
