"""Copies from and to memory from descriptors: what may be copied, and what one that is refused leaves."""

from __future__ import annotations

import itertools

from npu_conformance.cts.lib.runtime.described_sums import (
    content_of,
    fill,
    memory_for_sum,
)
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    compilation_of_sum,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.domains", interface="runtime")


@cases.case("uninitialised_source", "FW-MEM-006", since=Version.V1_3)
def uninitialised_source(context: CaseContext) -> None:
    """Memory to which nothing was written cannot be copied, neither to shared memory nor to its like."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory, other = memory_for_sum(app, compilation), memory_for_sum(app, compilation)
    target, _ = app.shared_memory(8)
    for destination in (target, other):
        app.refused("memory_copy", ResultCode.BAD_DATA, memory, destination)


@cases.case("failed_copy", "FW-MEM-005", "FW-MEM-006", since=Version.V1_3)
def failed_copy(context: CaseContext) -> None:
    """A copy from memory of another size, or to it, is refused; its target is uninitialised, its source is not."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for size in (4, 12):
        with context.configuration(f"size{size}"):
            memory, (other, _) = memory_for_sum(app, compilation), app.shared_memory(size)
            fill(app, memory)
            app.refused("memory_copy", ResultCode.BAD_DATA, memory, other)
            checks.equal(content_of(app, memory), FIRST, "the source of a copy that failed")
            app.refused("memory_copy", ResultCode.BAD_DATA, other, memory)
            target, _ = app.shared_memory(8)
            app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
            fill(app, memory)
            checks.equal(content_of(app, memory), FIRST, "the memory that was filled again")


@cases.case("copies", "FW-MEM-006", since=Version.V1_3)
def copies(context: CaseContext) -> None:
    """Bytes are copied between all kinds of memory, also onto themselves."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for source_kind, target_kind in itertools.product(("shared", "described"), repeat=2):
        with context.configuration(f"{source_kind}_to_{target_kind}"):
            source, target = (
                app.shared_memory(8)[0] if kind == "shared" else memory_for_sum(app, compilation)
                for kind in (source_kind, target_kind)
            )
            fill(app, source, (6.0, 7.0))
            app.succeed("memory_copy", source, target)
            checks.equal(content_of(app, target), (6.0, 7.0), "the copy")
            app.succeed("memory_copy", source, source)
            checks.equal(content_of(app, source), (6.0, 7.0), "the source")


@cases.case("sizes_of_shared_memory", "FW-MEM-006", since=Version.V1_3)
def sizes_of_shared_memory(context: CaseContext) -> None:
    """Shared memories are copied whole, and only where their sizes are equal."""
    app = RuntimeApp(context)
    source, target = app.shared_memory(100, bytes(range(100)))[0], app.shared_memory(100)
    app.succeed("memory_copy", source, target[0])
    checks.equal(target[1].read(0, 100), bytes(range(100)), "the copy")
    for size in (99, 101):
        app.refused("memory_copy", ResultCode.BAD_DATA, source, app.shared_memory(size)[0])
