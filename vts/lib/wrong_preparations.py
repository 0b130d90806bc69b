"""Preparations with one wrong argument, each beside others that are right but change what a driver does first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from npu_conformance.harness.judge.compare import AospVerdict
from npu_conformance.harness.run.caching import TOKEN
from npu_conformance.harness.run.preparation import PreparationArguments
from npu_conformance.specs.neuralnetworks.enums import Priority
from npu_conformance.specs.neuralnetworks.types import (
    ExtensionNameAndPrefix,
    Model,
    Subgraph,
    TokenValuePair,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.deadlines import deadline

_PREFIX = 1
_NOBODY = ExtensionNameAndPrefix("com.npu_conformance.in_no_driver", _PREFIX)
_HINT = TokenValuePair(_PREFIX << 16, b"?")
_BREAKS = {
    "model": "NNHAL-MODEL-001",
    "preference": "NNHAL-PREPARE-009",
    "priority": "NNHAL-PREPARE-010",
    "deadline": "NNHAL-QOS-008",
}


class Wrong(NamedTuple):
    """A preparation that has to be rejected. name: what is wrong, and what stands beside it; words: the same.

    breaks: the requirement on what is wrong. aosp: whether AOSP's VTS would notice that it is taken: it gives a wrong
    preference and a wrong priority beside nothing else, and what it makes of others is not known.
    """

    name: str
    breaks: str
    aosp: AospVerdict
    model: Model
    arguments: PreparationArguments

    @property
    def words(self) -> str:
        """Of what the call is, in a sentence."""
        mistake, _, neighbour = self.name.partition("_beside_")
        model = "the invalid model" if mistake == "model" else f"a valid model with a wrong {mistake}"
        return model if neighbour == "nothing" else f"{model}, beside {neighbour.replace('_', ' ')}"


def wrong_preparations(version: Version) -> Iterator[Wrong]:
    """Every mistake beside every neighbour that does not take its place."""
    right = addition.model()
    for mistake, wrong in _mistakes(version).items():
        model = _empty(right) if mistake == "model" else right
        for neighbour, given in _neighbours(version).items():
            if not wrong.keys() & given.keys():
                arguments = replace(PreparationArguments(), **wrong, **given)
                aosp = _aosp_verdict(mistake, neighbour)
                yield Wrong(f"{mistake}_beside_{neighbour}", _BREAKS[mistake], aosp, model, arguments)


def _aosp_verdict(mistake: str, neighbour: str) -> AospVerdict:
    if mistake == "deadline":
        return "no"
    return "yes" if mistake != "model" and neighbour == "nothing" else "unknown"


def _mistakes(version: Version) -> dict[str, dict[str, Any]]:
    mistakes: dict[str, dict[str, Any]] = {"model": {}, "preference": {"preference": 3}}
    if version >= Version.V1_3:
        mistakes["priority"] = {"priority": -1}
    if version.is_aidl:
        mistakes["deadline"] = {"deadline_ns": -2}
    return mistakes


def _neighbours(version: Version) -> dict[str, dict[str, Any]]:
    neighbours: dict[str, dict[str, Any]] = {"nothing": {}, "a_token": {"token": TOKEN}}
    if version >= Version.V1_3:
        neighbours["low_priority"] = {"priority": Priority.LOW}
        # One that has passed may be told first: nothing says which of two reasons comes first.
        neighbours["a_distant_deadline"] = {"deadline_ns": deadline("maximum", version)}
    if version >= Version.FL8:
        neighbours["a_hint"] = {"hints": (_HINT,), "extensions": (_NOBODY,)}
    return neighbours


def _empty(model: Model) -> Model:
    """The model without its operations."""
    return replace(model, main=Subgraph(model.main.operands, (), (), ()))
