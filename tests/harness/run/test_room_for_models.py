"""What a preparation that ends for want of resources says: of a model alone, beside others, and of one that fitted."""

from __future__ import annotations

from typing import Any

import pytest

from npu_conformance.harness.judge.verdicts import Failed, NoRoom
from npu_conformance.harness.run.busy import VAGUE, vagueness
from npu_conformance.harness.run.living import Living
from npu_conformance.harness.run.preparation import NO_ROOM, Preparation, PreparationRecorder, model_of
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, ErrorStatus, busy
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.versions import Version


def refused(status: ErrorStatus, version: Version, *, others: int = 0, has_fitted: bool = False) -> Preparation:
    """A preparation of a supported model that ended so."""
    is_short, warning = status in busy(version), vagueness(status, version)
    return Preparation(ErrorStatus.NONE, status, None, PreparationRecorder(), others, is_short, has_fitted, warning)


@pytest.mark.parametrize("status", sorted(EXHAUSTED))
def test_a_model_may_be_too_large_and_a_warning_says_what_support_means(status: ErrorStatus) -> None:
    with pytest.raises(NoRoom) as raised:
        model_of(refused(status, Version.V1_3))
    assert raised.value.warning == NO_ROOM


@pytest.mark.parametrize(
    ("status", "version", "warning"),
    [
        (ErrorStatus.GENERAL_FAILURE, Version.V1_2, ""),
        (ErrorStatus.GENERAL_FAILURE, Version.V1_3, VAGUE),
        (ErrorStatus.DEVICE_UNAVAILABLE, Version.V1_0, ""),
        (ErrorStatus.DEVICE_UNAVAILABLE, Version.FL8, ""),
        (ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, Version.V1_3, ""),
    ],
)
def test_there_need_be_no_room_beside_others(status: ErrorStatus, version: Version, warning: str) -> None:
    with pytest.raises(NoRoom) as raised:
        model_of(refused(status, version, others=1))
    assert raised.value.warning == warning


@pytest.mark.parametrize("status", [ErrorStatus.INVALID_ARGUMENT, ErrorStatus.MISSED_DEADLINE_TRANSIENT])
def test_not_every_status_is_that_of_a_busy_device(status: ErrorStatus) -> None:
    with pytest.raises(Failed):
        model_of(refused(status, Version.FL8, others=1))


@pytest.mark.parametrize("status", [ErrorStatus.GENERAL_FAILURE, ErrorStatus.DEVICE_UNAVAILABLE])
@pytest.mark.parametrize("version", [Version.V1_2, Version.V1_3, Version.FL8])
def test_another_failure_of_a_supported_model_is_none_of_room(version: Version, status: ErrorStatus) -> None:
    with pytest.raises(Failed):
        model_of(refused(status, version))


def test_things_of_a_subject_live_until_nobody_has_them(subject: Any) -> None:
    living, other, model = Living(), type(subject)(), PreparedModel()
    living.add(subject, model)
    living.add(subject, None)
    assert (living.count(subject), living.count(other)) == (1, 0)
    del model
    assert living.count(subject) == 0


def test_there_is_room_for_what_has_fitted() -> None:
    with pytest.raises(Failed):
        model_of(refused(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, Version.FL8, has_fitted=True))
