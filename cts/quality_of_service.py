cases = lambda: iter(())
