"""The engine that runs cases against an implementation: loading, isolation, comparison, verdicts, reports, commands."""
