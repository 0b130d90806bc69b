"""A device is asked for an operation before models of it are drawn; what it has in part is run as ever."""

from __future__ import annotations

from contextlib import closing

import pytest

from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.suites import find
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.vts.lib.lacking import forms_of, require_operation

CASE = "vts.drawn.ADD.models"
OPTIONS = {"operations": "ADD", "type": "TENSOR_QUANT8_ASYMM"}


def test_an_operation_that_a_device_lacks_is_not_supported_and_what_was_asked_is_on_record() -> None:
    with closing(open_subject("narrow_drivers:plugin", OPTIONS, "inprocess")) as subject:
        context = CaseContext(find(CASE), subject)
        with pytest.raises(NotSupported, match="no model of MUL is supported"):
            require_operation(context, "MUL")
        assert len(context.own.models) == len(list(forms_of("MUL", context.version)))
        assert all(one.is_refused for one in context.own.models)


def test_of_an_operation_that_a_device_has_in_one_type_nothing_is_on_record() -> None:
    with closing(open_subject("narrow_drivers:plugin", OPTIONS, "inprocess")) as subject:
        context = CaseContext(find(CASE), subject)
        require_operation(context, "ADD")
        assert context.own.models == []


def test_a_wrong_answer_is_left_to_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> tuple[bool, ...]:
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT)

    monkeypatch.setattr(ReferenceDevice, "get_supported_operations", refuses)
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        context = CaseContext(find(CASE), subject)
        require_operation(context, "ADD")
        assert context.own.models == []
