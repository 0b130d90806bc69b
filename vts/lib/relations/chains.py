"""Two operations, one behind the other: in one model, and each in a model of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import Net, Tensor

Step = Callable[[Net, str], str]
"""Adds one operation on an operand; its constants are made beforehand, so that each model gets the same ones."""


@dataclass(frozen=True)
class Chain:
    """Two operations. gain: how many times an error of the first may count in the result of the second."""

    first: Step
    second: Step
    gain: float = 1.0


def neighbours_agree(fixture: RelationFixture, given: Tensor, chains: Mapping[str, Chain]) -> None:
    """Fail unless every chain gives in one model what its operations give one after the other.

    What lies between is rounded in one model and need not be in the other; nothing else is allowed to differ.
    """
    between = _between(fixture, given, chains)
    behind = _behind(fixture, between, chains)
    for name, chain in chains.items():
        net = fixture.net()
        (whole,) = fixture.run(net, chain.second(net, chain.first(net, net.input(given))))
        operand_type = behind[name].operand.type
        fixture.agree(
            f"{name} in one model",
            [whole, behind[name].array],
            roundings=2 + 2 * chain.gain,
            operand_type=operand_type,
            magnitude=16.0,
        )


def _between(fixture: RelationFixture, given: Tensor, chains: Mapping[str, Chain]) -> dict[str, Tensor]:
    """The results of the first operations, each alone on the input."""
    found = {}
    for name, chain in chains.items():
        net = fixture.net()
        found[name] = _result(fixture, net, chain.first(net, net.input(given)))
    return found


def _behind(fixture: RelationFixture, between: Mapping[str, Tensor], chains: Mapping[str, Chain]) -> dict[str, Tensor]:
    """The results of the second operations, each alone on what the first one gave."""
    found = {}
    for name, chain in chains.items():
        net = fixture.net()
        found[name] = _result(fixture, net, chain.second(net, net.input(between[name])))
    return found


def _result(fixture: RelationFixture, net: Net, output: str) -> Tensor:
    (array,) = fixture.run(net, output)
    return Tensor(replace(net.operand(output), value=None), array)
