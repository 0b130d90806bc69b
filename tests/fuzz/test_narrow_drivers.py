"""Drivers of few operations and one type are attacked as well as others are: fuzzers find out what they have."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import closing
from typing import Any

import msgspec
import pytest

from npu_conformance.fuzz.lib.burst_steps import FIRST
from npu_conformance.fuzz.lib.burst_target import BurstTarget
from npu_conformance.fuzz.lib.cache_target import CacheTarget
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.memory_domain_target import MemoryDomainTarget
from npu_conformance.fuzz.lib.prepared_vectors import PreparedVectors
from npu_conformance.fuzz.lib.request_target import RequestTarget
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

TYPES = ("TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED")
TARGETS: dict[str, Callable[[SubjectHandle], Any]] = {
    "requests": RequestTarget,
    "burst": BurstTarget,
    "memory_domain": MemoryDomainTarget,
    "cache": CacheTarget,
}


def narrow(operations: str, type_name: str) -> SubjectHandle:
    options = {"operations": operations, "type": type_name}
    return open_subject("narrow_drivers:plugin", options, "inprocess")


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("name", ["requests", "burst", "cache"])
def test_the_short_case_attacks_a_driver_of_one_operation_and_type(name: str, type_name: str) -> None:
    (case,) = importlib.import_module(f"npu_conformance.fuzz.{name}").cases()
    with closing(narrow("ADD", type_name)) as subject, closing(CaseContext(case, subject, seed=5)) as context:
        case.run(context)
        assert context.is_flawless


@pytest.mark.parametrize("operation", ["SUB", "ADD", "MUL", "SPLIT"])
@pytest.mark.parametrize("type_name", TYPES[:3:2])
def test_buffers_are_allocated_for_what_a_driver_has(operation: str, type_name: str) -> None:
    (case,) = importlib.import_module("npu_conformance.fuzz.memory_domain").cases()
    with closing(narrow(operation, type_name)) as subject, closing(CaseContext(case, subject, seed=5)) as context:
        case.run(context)
        assert context.is_flawless


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_fuzzer_cannot_attack_at_all_names_what_it_needs(name: str) -> None:
    with closing(narrow("HEATMAP_MAX_KEYPOINT", "TENSOR_INT32")) as subject:
        target = TARGETS[name](subject)
        with pytest.raises(NotApplicable, match=r"none of the models|of any type: .*ADD"):
            target.run(target.seeds[0])


def test_most_requests_meet_what_is_prepared() -> None:
    """After the first input that is refused, inputs are about what the driver has."""
    with closing(narrow("ADD,MUL", "TENSOR_FLOAT32")) as subject:
        target, met = RequestTarget(subject), set()
        with pytest.raises(NotApplicable):
            target.run(target.seeds[0])
        for seed in range(60):
            changed = target.mutate(target.seeds[seed], Choices.seeded(seed), 1 << 16)
            name = msgspec.json.decode(changed)["vector"]
            met |= {name.partition("/")[0]}
            if name.startswith("ADD/"):
                assert target.run(changed)
    assert "ADD" in met


def test_a_driver_of_all_types_is_attacked_in_several() -> None:
    with closing(open_subject("reference", {}, "inprocess")) as subject:
        vectors = PreparedVectors(subject, ("ADD",))
        assert len(vectors.first_names) == 1
        assert len(list(vectors.all_prepared())) == len(vectors.names) >= 4
        assert vectors.instead(vectors.names[0], Choices(b"")) == vectors.names[0]


def test_a_history_tells_which_vector_was_first() -> None:
    with closing(narrow("ADD,MUL", "TENSOR_FLOAT32")) as subject:
        target = BurstTarget(subject)
        data = b'[{"do":"open","vector":"%s"},{"do":"execute"}]' % FIRST.encode()
        assert "Open 1 with 1" in target.run(data)
        told = msgspec.json.decode(target.readable(data))[0]["vector"]
        assert told.startswith("ADD/float32")
        assert target.run(target.readable(data)) == target.run(data)
