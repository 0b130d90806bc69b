"""Which mutations a run makes, and what it says of AOSP's VTS where one is taken."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.cases import Scope
from npu_conformance.specs.versions import NEWEST
from npu_conformance.vts import validation
from npu_conformance.vts.lib import aosp_verdict
from npu_conformance.vts.lib.mutations import FAMILIES

LOCATION = next(family for family in FAMILIES if family.name == "location")


def _trial(scope: Scope) -> Any:
    return SimpleNamespace(scope=scope, version=NEWEST)


def _labels(scope: Scope, seed: int) -> list[str]:
    header = vectors.headers("CONV_2D")[0]
    model = build_model(vectors.load(header.operation, header.name), NEWEST).model
    return [one.label for one in validation._mutations(_trial(scope), LOCATION, model, random.Random(seed))]


def test_a_seed_draws_the_same_mutations_again_and_each_kind_once() -> None:
    drawn = _labels(Scope.DEFAULT, 1)
    kinds = [label.rpartition(".")[2] for label in drawn]
    assert drawn == _labels(Scope.DEFAULT, 1) != _labels(Scope.DEFAULT, 2)
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == {label.rpartition(".")[2] for label in _labels(Scope.FULL, 1)}


def test_the_full_scope_leaves_nothing_out() -> None:
    assert len(_labels(Scope.FULL, 1)) > len(_labels(Scope.DEFAULT, 1))
    headers = list(vectors.headers("CONV_2D"))
    assert validation._vectors(_trial(Scope.FULL), headers, random.Random(1)) == headers


def test_every_set_of_types_is_drawn_weights_included() -> None:
    headers = [header for header in vectors.headers("CONV_2D") if header.rejected is None]
    drawn = validation._vectors(_trial(Scope.DEFAULT), headers, random.Random(3))
    types = [frozenset(operand.type for operand in header.operands.values()) for header in drawn]
    assert len(set(types)) == len(types)
    assert any("TENSOR_QUANT8_SYMM_PER_CHANNEL" in one for one in types)


def test_a_failure_says_whether_aosps_vts_would_fail_too() -> None:
    with (
        pytest.raises(Failed, match="found 2; AOSP's VTS would fail too: yes") as caught,
        aosp_verdict.with_aosp_verdict("yes"),
    ):
        raise Failed("expected 1, found 2", "1", "2")
    assert (caught.value.expected, caught.value.found) == ("1", "2")
    assert (aosp_verdict.verdict_for_rule("O4"), aosp_verdict.verdict_for_rule("O9")) == ("unknown", "no")
