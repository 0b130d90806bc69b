"""What the HAL tests share: models, executions, comparison, rejection."""
