"""Choices, edits and seeds: deterministic, bounded, and never stuck on what is no JSON."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.fuzz.lib import json_edits, model_mutator, wire_lines
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.json_edits import Grammar
from npu_conformance.fuzz.lib.model_class import classify
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import Model, Operand
from npu_conformance.specs.versions import NEWEST, Version

GARBAGE = (b"", b"5", b'"x"', b"[]", b"{}", b"null", b"\xff\xfe", b'{"main":3}', b"[" * 5000)


@functools.cache
def newest_seeds() -> list[bytes]:
    return model_mutator.seeds(NEWEST)


def many(count: int) -> list[bytes]:
    source, seeds = random.Random(1), newest_seeds()
    return [
        model_mutator.mutate(source.choice(seeds), Choices(source.randbytes(SIZE)), seeds, 65535) for _ in range(count)
    ]


def models(inputs: list[bytes]) -> Iterator[Model]:
    for data in inputs:
        with suppress(msgspec.ValidationError):
            yield msgspec.json.decode(data, type=Model)


def test_choices_come_from_the_bytes_and_end_in_zeros() -> None:
    choices = Choices(b"\x05\x00\x01\x01")
    assert [choices.below(10), choices.below(1000), choices.below(7), choices.pick("abc")] == [5, 257, 0, "a"]
    assert Choices.seeded(3).below(65536) == Choices.seeded(3).below(65536)


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_3, NEWEST])
def test_every_seed_is_valid_in_its_version(version: Version) -> None:
    seeds = model_mutator.seeds(version)
    rejected = [data for data in seeds if classify(msgspec.json.decode(data, type=Model), version).must_reject]
    assert len(seeds) >= 20
    assert not rejected


def test_seeds_know_every_operation_with_vectors() -> None:
    found = {msgspec.json.decode(data, type=Model).main.operations[0].type for data in newest_seeds()}
    assert len(found) == len(vectors.operations())


def test_mutations_repeat_and_differ() -> None:
    first = many(300)
    assert first == many(300)
    assert len(set(first)) > 250


def test_mutations_reach_all_three_classes_of_models() -> None:
    found = [classify(model, NEWEST) for model in models(many(600))]
    classes = {(one.must_reject, one.is_valid) for one in found}
    assert classes == {(True, False), (False, True), (False, False)}


def test_joined_models_are_valid() -> None:
    both = model_mutator._joined(msgspec.json.decode(newest_seeds()[0]), msgspec.json.decode(newest_seeds()[-1]))
    model = msgspec.convert(both, Model)
    assert len(model.main.operations) == 2
    assert classify(model, NEWEST).is_valid


def test_some_mutations_join_models_and_change_nothing_else() -> None:
    """What a device can take at most shows in large models that are valid."""
    counts = {len(one.main.operations) for one in models(many(600)) if classify(one, NEWEST).is_valid}
    assert {2, 3, 5} <= counts


def test_an_operand_that_32_bits_do_not_count_leaves_the_device_a_choice() -> None:
    """An omitted operand has no place that could be wrong, and no runtime passes one of 2^32 bytes on (FW-MDL-010)."""
    model = msgspec.json.decode(model_mutator.seeds(Version.V1_3)[0], type=Model)
    for elements, is_valid in ((2**31 - 1, True), (2**31, False)):
        omitted = Operand(OperandType.TENSOR_FLOAT16, (elements,), lifetime=OperandLifeTime.NO_VALUE)
        wider = replace(model, main=replace(model.main, operands=(*model.main.operands, omitted)))
        found = classify(wider, Version.V1_3)
        assert (found.must_reject, found.is_valid) == (False, is_valid)


@pytest.mark.parametrize("data", GARBAGE)
def test_garbage_is_mutated_too(data: bytes) -> None:
    for seed in range(30):
        assert len(model_mutator.mutate(data, Choices.seeded(seed), GARBAGE, 100)) <= 100
        assert len(wire_lines.mutate(data, Choices.seeded(seed), GARBAGE, 100)) <= 100


def test_every_value_is_a_place() -> None:
    document = {"a": [1, {"b": 2.0}], "c": {}}
    found = [(place.name, place.value) for place in json_edits.places(document)]
    assert sorted(map(str, found)) == sorted(
        map(str, [("a", document["a"]), ("c", {}), ("a", 1), ("a", {"b": 2.0}), ("b", 2.0)])
    )


def test_edits_change_a_document_in_every_way() -> None:
    grammar = Grammar(integers={"n": (77,)}, templates={"t": (None, {"x": 1})}, encoded=frozenset({"e"}), wild=True)
    results = set()
    for seed in range(400):
        document = {"n": 3, "t": None, "e": "AAEC", "s": "text", "f": 0.5, "l": [1, 2, 3], "b": True}
        json_edits.edit(document, Choices.seeded(seed), grammar)
        results.add(msgspec.json.encode(document))
    joined = b"".join(results)
    assert all(part in joined for part in (b'"n":77', b'{"x":1}', b'"b":false', b'"NaN"', b'"l":[3,2,1]', b'"s":""'))


@pytest.mark.parametrize("data", [b"", b"a\n\nb", b"\xff\x00\n", "ü\u2028".encode()])
def test_inputs_survive_as_lines(data: bytes) -> None:
    assert lines_of(data).data == data
