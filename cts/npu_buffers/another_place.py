"""The cases of buffers once more, with those of another device or type, each of which may have an allocator of its own.

The places that a manager supports, but the preferred one of the other cases, have their turns, case by case.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.buffer_fixture import at_another_place
from npu_conformance.cts.npu_buffers import allocation, freeing, loading, many, mapping, numbers, preemption, states
from npu_conformance.harness.run.cases import Case, CaseGroup
from npu_conformance.harness.run.context import CaseContext

cases = CaseGroup("cts.npu_buffers.another_place", interface="manager")

_OF_NO_PLACE = tuple(
    f"allocation.{name}"
    for name in ("empty_batch", "every_supported_place", "no_heap", "unset_device", "unset_type", "unsupported_fails")
)
"""Cases that ask for places of their own, or for no buffer."""


def _of_buffers() -> Iterator[tuple[str, Case]]:
    """The cases whose buffers may be anywhere, by their names behind the area's."""
    for module in (allocation, freeing, loading, many, mapping, numbers, preemption, states):
        for case in module.cases():
            name = case.id.removeprefix("cts.npu_buffers.")
            if name not in _OF_NO_PLACE:
                yield name, case


def _declare(turn: int, name: str, case: Case) -> None:
    def elsewhere(context: CaseContext) -> None:
        with at_another_place(turn):
            case.run(context)

    elsewhere.__doc__ = f"At another place: {case.description}"
    cases.case(name, *case.requirements, since=case.since, until=case.until)(elsewhere)


for _turn, (_name, _case) in enumerate(_of_buffers()):
    _declare(_turn, _name, _case)
