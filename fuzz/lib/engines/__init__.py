"""How inputs are chosen: guided by what is seen, by coverage of Python code, or by nothing."""
