"""What the robustness cases stand on: what a process holds is counted, messages are taken to pieces."""

from __future__ import annotations

import subprocess
import sys
from subprocess import PIPE

from npu_conformance.harness.subject.holdings import holdings_of
from npu_conformance.vts.messages import paths

# A process of its own: threads and descriptors of the one that runs the tests come and go.
HOLDER = """
import mmap, os, sys, threading
print("before", flush=True); sys.stdin.readline()
descriptor, ended = os.memfd_create("test"), threading.Event()
os.ftruncate(descriptor, mmap.PAGESIZE)
mapping = mmap.mmap(descriptor, mmap.PAGESIZE)
threading.Thread(target=ended.wait).start()
print("during", flush=True); sys.stdin.readline()
ended.set()
"""


def test_what_a_process_holds_is_counted() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=PIPE, stdout=PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        counts = []
        for stage in ("before", "during"):
            assert holder.stdout.readline().strip() == stage
            counts.append(holdings_of(holder.pid))
            holder.stdin.write("\n")
            holder.stdin.flush()
    before, during = counts
    assert before is not None
    assert during is not None
    # The mapping keeps a descriptor of its own.
    assert during.descriptors - before.descriptors == 2
    assert during.shared_mappings - before.shared_mappings == 1
    assert during.threads - before.threads == 1


def test_a_process_that_is_gone_holds_nothing() -> None:
    assert holdings_of(0) is None


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
