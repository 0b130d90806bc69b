"""How each builtin operator becomes operations of NN HAL 1.3 or below; one module for each family, `table` for all."""
