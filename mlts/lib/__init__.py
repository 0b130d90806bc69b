"""What the stress tests share: client processes, their supervision, and what they report."""
