"""Machine-learning tests: models under load, in many clients at once."""

AREAS = (
    "stress", "early_termination", "multi_process", "mapped_load", "random_models", "degradation", "npu_apps",
)  # fmt: skip
