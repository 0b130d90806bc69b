"""Machine-learning tests: models under load, in many clients at once."""

AREAS = ("stress",)
