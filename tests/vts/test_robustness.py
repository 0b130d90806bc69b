"""What the robustness cases stand on: resources of a process are counted, messages are taken to pieces."""

from __future__ import annotations

import mmap
import os
import threading

from npu_conformance.harness.subject.resources import resources_of
from npu_conformance.vts.messages import paths


def test_what_a_process_holds_is_counted() -> None:
    before = resources_of(os.getpid())
    descriptor, ended = os.memfd_create("test"), threading.Event()
    os.ftruncate(descriptor, mmap.PAGESIZE)
    thread = threading.Thread(target=ended.wait)
    thread.start()
    with mmap.mmap(descriptor, mmap.PAGESIZE):
        during = resources_of(os.getpid())
    ended.set()
    thread.join()
    os.close(descriptor)
    assert before is not None
    assert during is not None
    # The mapping keeps a descriptor of its own.
    assert during.descriptors - before.descriptors == 2
    assert during.shared_mappings - before.shared_mappings == 1
    assert during.threads - before.threads == 1


def test_a_process_that_is_gone_holds_nothing() -> None:
    assert resources_of(0) is None


def test_every_field_and_the_first_element_of_every_array_has_a_path() -> None:
    message = {"object": 1, "model": {"operands": [{"type": 3}, {"type": 4}], "pools": []}, "callback": -1}
    assert list(paths(message)) == [
        ("object",),
        ("model",),
        ("model", "operands"),
        ("model", "operands", 0),
        ("model", "operands", 0, "type"),
        ("model", "pools"),
    ]
