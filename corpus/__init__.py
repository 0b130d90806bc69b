"""What is tested with: vectors, oracles, generators, variations, strategies, importers. Imports the contract alone."""
