"""What the stored vectors of each operation cover; vectors/ is generated from it."""
