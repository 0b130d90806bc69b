"""Decoders made by many threads at once, which ends a process that does not take turns."""

from __future__ import annotations

import subprocess
import sys

from patience import SECONDS

PROGRAM = """
import sys, threading
import msgspec
from npu_conformance.specs.decoders import decoder

def fresh(depth):
    fields = [(f"f{index}", fresh(depth - 1) if depth else int) for index in range(3)]
    return msgspec.defstruct(f"Struct{depth}", fields)

def value(depth):
    return {f"f{index}": value(depth - 1) if depth else 1 for index in range(3)}

def work(kind, barrier):
    barrier.wait()
    decoder(kind).decode(DATA)

DATA = msgspec.json.encode(value(3))
sys.setswitchinterval(1e-6)
for _ in range(100):
    kind, barrier = fresh(3), threading.Barrier(6)
    threads = [threading.Thread(target=work, args=(kind, barrier)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done")
"""


def test_threads_that_make_decoders_of_one_struct_take_turns() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
