"""A device that takes what is invalid is told what is: by the validator's sentence, behind what was expected."""

from __future__ import annotations

import re
from contextlib import closing
from typing import cast

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.harness.judge.verdicts import Failed, NotSupported
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.preparation import Preparation, PreparationRecorder
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Model, Request
from npu_conformance.vts import validation
from npu_conformance.vts.lib import addition, rejection
from npu_conformance.vts.lib.vector_cases import stored_case

HEADER = next(header for header in vectors.headers("ADD") if header.name == "mixed_types")
CASE = stored_case(HEADER)


class _Credulous:
    """A device that supports whatever it is asked about."""

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        return (True,) * len(model.main.operations)


def test_a_failure_says_what_is_invalid_in_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        context = CaseContext(CASE, subject, seed=1)
        monkeypatch.setattr(CaseContext, "device", _Credulous())
        monkeypatch.setattr(rejection, "_rejects", lambda *_: False)
        with pytest.raises(Failed) as caught:
            rejection.expect_vector_rejected(context, vectors.load("ADD", "mixed_types"))
    assert re.fullmatch(
        r"getSupportedOperations of the invalid model: expected INVALID_ARGUMENT, found success with \(True,\); "
        r"what is invalid: operation 0 \(ADD\): HAL fl8 has no signature "
        r"\(TENSOR_FLOAT32, TENSOR_INT32, INT32\) -> \(TENSOR_FLOAT32\) \(MODEL\.P3\)",
        str(caught.value),
    )


def test_a_failure_says_what_is_invalid_in_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        context = CaseContext(CASE, subject, seed=1)
        monkeypatch.setattr(rejection, "execute", lambda *_, **__: Execution(ErrorStatus.NONE, (), None))
        with pytest.raises(
            Failed, match=r"found NONE; what is invalid: 0 inputs, the model has 2 \(REQUEST\.R1, and 1 more\)$"
        ):
            rejection.expect_request_rejected(
                context,
                cast(PreparedModel, None),
                addition.FLOAT32.model(),
                Request((), (), ()),
                "synchronous",
                measure=False,
            )


def test_what_is_not_supported_is_told_with_its_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device may execute the operation of other types."""
    asked: list[str] = []

    def supports(context: CaseContext, vector: vectors.Vector) -> bool:
        asked.append(vector.name)
        return vector.operands[vector.inputs[0]].type.name == "TENSOR_FLOAT32"

    with closing(open_subject("reference", isolation="inprocess")) as subject:
        monkeypatch.setattr(rejection, "supports", supports)
        monkeypatch.setattr(CaseContext, "supported_operations", lambda *_, **__: (False,))
        refused = Preparation(ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE, None, PreparationRecorder())
        monkeypatch.setattr(CaseContext, "prepare", lambda *_, **__: refused)
        context = CaseContext(CASE, subject, seed=1)
        told = "SOFTMAX of TENSOR_QUANT8_ASYMM is not supported, so that a rejection proves nothing"
        with pytest.raises(NotSupported, match=f"^{told}$"):
            rejection.expect_vector_rejected(context, vectors.load("SOFTMAX", "quant8_output_scale"))
    assert asked[0].startswith("quant8")


def test_a_model_of_wrong_structure_is_no_matter_of_run_time() -> None:
    assert CASE.requirements[0] == "NNHAL-SUPPORT-003"
    assert "NNHAL-REQUEST-018" not in CASE.requirements


@pytest.mark.parametrize("name", ["preference", "priority", "deadline", "beside_others"])
def test_a_wrong_argument_of_a_valid_model_does_not_make_the_model_invalid(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(
        validation, "expect_preparation_rejected", lambda *_, what="the invalid model": said.append(what)
    )
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        case = suites.find(f"vts.validation.arguments.{name}")
        case.run(CaseContext(case, subject, seed=1))
    assert {one.partition(" with ")[0].partition(",")[0] for one in said} <= {"a valid model", "the invalid model"}
    assert not any(one.startswith("the invalid model") for one in said) or name == "beside_others"
    assert "a valid model with a wrong priority, beside a token" in said or name != "beside_others"
