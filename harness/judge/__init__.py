"""What a result means: checks, comparison, quality, claims, waivers, and the closed set of verdicts."""
