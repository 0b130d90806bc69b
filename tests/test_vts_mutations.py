"""The HAL suite's mutations: each is invalid by the contract's validator, so no conforming device can fail them."""

from __future__ import annotations

import pytest

from npu_conformance.specs import vectors
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.vectors import VectorHeader
from npu_conformance.specs.versions import Version
from npu_conformance.vts.mutations import FAMILIES

VERSIONS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL5, Version.FL8)


def _sample() -> list[VectorHeader]:
    """One vector for each operation and type combination."""
    valid = [header for header in vectors.all_headers() if header.rejected is None]
    return list({(header.operation, header.types): header for header in valid}.values())


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_mutation_is_invalid_by_the_contract(family: str) -> None:
    mutate, _ = FAMILIES[family]
    accepted = []
    for header in _sample():
        for version in VERSIONS:
            if header.since > version:
                continue
            model = build_model(vectors.load(header.operation, header.name), version).model
            accepted += [
                f"{header.operation}.{header.name} {version} {mutation.label}"
                for mutation in mutate(model, version)
                if not validate_model(mutation.model, version)
            ]
    assert not accepted


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_mutations_have_labels_of_their_own(family: str) -> None:
    mutate, _ = FAMILIES[family]
    counted = 0
    for position, header in enumerate(_sample()):
        # Every tenth is enough, once the family has found something to edit at all.
        if counted and position % 10:
            continue
        model = build_model(vectors.load(header.operation, header.name), Version.V1_3).model
        labels = [mutation.label for mutation in mutate(model, Version.V1_3)]
        assert len(set(labels)) == len(labels)
        counted += len(labels)
    assert counted, "the family offers no mutation of any sampled vector"
