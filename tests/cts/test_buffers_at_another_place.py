"""`cts.npu_buffers.another_place`: every case of it asks for buffers, and none of the preferred place."""

from __future__ import annotations

import itertools

import pytest

from npu_conformance.cts import npu_buffers
from npu_conformance.cts.lib.buffer_fixture import BufferApp
from npu_conformance.cts.npu_buffers import another_place
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.npu.buffers import BufferType

PREFERRED = (0, BufferType.MODEL_WEIGHTS)
SUPPORTED = BufferApp.supported


def test_the_cases_that_are_left_out_are_cases() -> None:
    names = {case.id.removeprefix("cts.npu_buffers.") for case in npu_buffers.cases()}
    assert names >= set(another_place._OF_NO_PLACE)


def test_every_case_asks_at_another_place(monkeypatch: pytest.MonkeyPatch) -> None:
    places: dict[str, set[tuple[int, int]]] = {}

    def noted(app: BufferApp, case: Case) -> BufferApp:
        found = SUPPORTED(app)
        places[case.id].add(found.place)
        return found

    subject = open_subject("reference", isolation="inprocess")
    try:
        for case in another_place.cases():
            places[case.id] = set()
            monkeypatch.setattr(BufferApp, "supported", lambda app, case=case: noted(app, case))
            context = CaseContext(case, subject)
            case.run(context)
            context.close()
    finally:
        subject.close()
    assert [case for case, found in places.items() if not found or PREFERRED in found] == []
    assert len(set(itertools.chain.from_iterable(places.values()))) > 1
