"""Structural rules of models, one case for each model: broken in one rule, or sound right beside the limit.

A broken model is rejected with INVALID_ARGUMENT by getSupportedOperations and prepareModel. A sound one is answered by
both, whether or not the device supports it. What is expected follows from the text of the rule. A rule that Android's
own validator does not look at may be broken: a device that takes such a model gets a quality warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules: one for each model."""
    return suites.collect(__name__)
