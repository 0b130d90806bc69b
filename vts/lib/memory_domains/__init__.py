"""Driver-managed buffers as the cases use them."""
