"""Kinds of memory: what the harness calls them at each version, and how it describes hardware buffers."""

from __future__ import annotations

import pytest

from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.harness.subject.memory_kinds import aidl_form, memory_of
from npu_conformance.specs.neuralnetworks.validate_scope import limits_of
from npu_conformance.specs.versions import Version

KINDS = ("ashmem", "mmap_fd", "hardware_buffer_blob", "hardware_buffer")


@pytest.mark.parametrize(
    ("kind", "aidl"),
    list(zip(KINDS, ("ashmem", "mappableFile", "hardwareBuffer", "hardwareBuffer"), strict=True)),
)
def test_aidl_has_names_of_its_own(kind: str, aidl: str) -> None:
    memory = memory_of(kind, 10)
    assert aidl_form(memory, Version.V1_3) == memory
    assert aidl_form(memory, Version.FL5).kind == aidl
    assert aidl_form(memory, Version.FL5).token == memory.token


@pytest.mark.parametrize("version", list(Version), ids=str)
def test_every_version_knows_the_names_that_it_gets(version: Version) -> None:
    kinds = KINDS if version >= Version.V1_2 else KINDS[:2]
    assert {aidl_form(memory_of(kind, 10), version).kind for kind in kinds} <= limits_of(version).pool_kinds


def test_hardware_buffers_are_described() -> None:
    assert memory_of("ashmem", 10).description is None
    blob, pixels = memory_of("hardware_buffer_blob", 10).description, memory_of("hardware_buffer", 10).description
    assert blob is not None
    assert pixels is not None
    assert (blob.format, blob.width, blob.height) == (33, 10, 1)
    assert pixels.format != 33
    assert 4 * pixels.width * pixels.height >= 10


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_pools_are_described_wherever_the_plugin_lives(isolation: Isolation) -> None:
    subject = open_subject("reference", {}, isolation)
    try:
        pool = subject.memory.create("hardware_buffer_blob", 16)
        assert pool.memory.description == memory_of("hardware_buffer_blob", 16).description
        pool.close()
    finally:
        subject.close()
