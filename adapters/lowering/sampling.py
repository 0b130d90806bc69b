"""RANDOM_MULTINOMIAL."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError

_SEEDS = 2


def random_multinomial(step: Step) -> None:
    """RANDOM_MULTINOMIAL. LiteRT finds the shape of samples before it runs only where the logits are constant.

    Its generator goes on from run to run: it does not draw the same samples again.
    """
    logits, seeds = step.graph.constant(step.value(0).astype("float32")), step.value(2)
    if len(seeds) != _SEEDS:
        raise LoweringError(f"{len(seeds)} seeds")
    first, second = (int(seed) for seed in seeds)
    step.graph.emit("MULTINOMIAL", [logits, step.tensor(1)], step.output(), "Random", seed=first, seed2=second)
