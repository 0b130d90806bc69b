"""Machine-learning tests: whole models with data, how fast they are, and many clients at once."""

AREAS = (
    "accuracy", "latency", "stress", "early_termination", "multi_process", "mapped_load", "random_models",
    "degradation", "circumstances", "told_times", "together", "every_way", "npu_apps",
)  # fmt: skip
