"""Bursts as the cases use them: the client's side of packets and queues."""
