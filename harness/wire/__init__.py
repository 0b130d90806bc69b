"""How messages, objects and memory cross to an implementation in another process."""
