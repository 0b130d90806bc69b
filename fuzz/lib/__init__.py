"""What the fuzzers share: their engines, their process and its supervisor, mutators and judges."""
