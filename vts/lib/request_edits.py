"""Edits of the request for the smallest addition, each of which makes it invalid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.harness.judge.compare import AospVerdict
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Request,
)
from npu_conformance.specs.versions import OLDEST, Version
from npu_conformance.vts.lib import addition

_SIZE, _POOL = addition.SIZE, addition.POOL
Edit = Callable[[Request, int], Request]
"""Makes a request for tensors of so many elements invalid."""


@dataclass(frozen=True, slots=True)
class RequestEdit:
    """One way to make a request invalid. AOSP's VTS removes arguments and does nothing else."""

    name: str
    apply: Edit
    requirements: tuple[str, ...]
    since: Version = OLDEST

    @property
    def aosp(self) -> AospVerdict:
        """Whether AOSP's VTS would notice, too."""
        return "yes" if self.name.endswith("_removed") else "no"


def small_request(context: CaseContext) -> Request:
    """The valid request that is edited."""
    return addition.request(context.pool(_POOL).memory)


def _input(request: Request, **fields: object) -> Request:
    return replace(request, inputs=(replace(request.inputs[0], **fields), *request.inputs[1:]))


def _output(request: Request, **fields: object) -> Request:
    return replace(request, outputs=(replace(request.outputs[0], **fields),))


def _place(pool: int, offset: int, padding: int = 0) -> DataLocation:
    return DataLocation(pool, offset, _SIZE, padding)


EDITS = (
    RequestEdit("input_removed", lambda r, _: replace(r, inputs=r.inputs[:1]), ("NNHAL-REQUEST-001",)),
    RequestEdit("input_added", lambda r, _: replace(r, inputs=r.inputs + r.inputs[:1]), ("NNHAL-REQUEST-001",)),
    RequestEdit("output_removed", lambda r, _: replace(r, outputs=()), ("NNHAL-REQUEST-002",)),
    RequestEdit("output_added", lambda r, _: replace(r, outputs=r.outputs * 2), ("NNHAL-REQUEST-002",)),
    RequestEdit("input_in_missing_pool", lambda r, _: _input(r, location=_place(1, 0)), ("NNHAL-REQUEST-004",)),
    RequestEdit("output_in_missing_pool", lambda r, _: _output(r, location=_place(1, 32)), ("NNHAL-REQUEST-004",)),
    RequestEdit("input_beyond_pool", lambda r, _: _input(r, location=_place(0, _POOL - 4)), ("NNHAL-REQUEST-005",)),
    RequestEdit("output_beyond_pool", lambda r, _: _output(r, location=_place(0, _POOL - 4)), ("NNHAL-REQUEST-005",)),
    RequestEdit(
        "input_offset_that_wraps",
        lambda r, _: _input(r, location=_place(0, 2**32 - 4)),
        ("NNHAL-REQUEST-005", "NNHAL-ROBUST-002"),
    ),
    RequestEdit(
        "output_padding_beyond_pool",
        lambda r, _: _output(r, location=_place(0, 32, _POOL)),
        ("NNHAL-REQUEST-006",),
        Version.FL5,
    ),
    RequestEdit("omitted_input_with_location", lambda r, _: _input(r, has_no_value=True), ("NNHAL-REQUEST-003",)),
    RequestEdit("input_of_other_rank", lambda r, n: _input(r, dimensions=(n, 1)), ("NNHAL-REQUEST-007",)),
    RequestEdit("input_of_other_size", lambda r, n: _input(r, dimensions=(n - 1,)), ("NNHAL-REQUEST-008",)),
    RequestEdit("output_of_other_rank", lambda r, n: _output(r, dimensions=(n, 1)), ("NNHAL-REQUEST-007",)),
    RequestEdit("output_of_other_size", lambda r, n: _output(r, dimensions=(n + 1,)), ("NNHAL-REQUEST-008",)),
)
"""Every edit that the suite makes."""
