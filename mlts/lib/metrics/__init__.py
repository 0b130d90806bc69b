"""What outputs are worth: pure functions of arrays, the same for a device and for its baseline (ML-ACC-004)."""
