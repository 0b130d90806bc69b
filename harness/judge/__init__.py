"""Says what a result means: checks, tolerances, comparison, quality, claims, waivers, and the set of verdicts."""
