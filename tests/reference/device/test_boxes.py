"""Operations on boxes on the reference: values that rules look at, and results whose length only execution shows."""

from __future__ import annotations

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.reference.device.executor import UNLIMITED, Executor
from npu_conformance.reference.device.tensors import Array
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version


def executor(vector: Vector) -> Executor:
    return Executor(build_model(vector, Version.FL8).model, Version.FL8, [])


def run(device: Executor, inputs: list[Array | None]) -> list[Array]:
    return device.run(inputs, UNLIMITED)


def inputs_of(vector: Vector) -> list[Array | None]:
    return [vector.examples[0].inputs[name] for name in vector.inputs]


@pytest.mark.parametrize("wrong", [[3, 0, 1, 1], [0, 0, 1, 99], [-1, 0, 1, 1]])
def test_boxes_are_checked_in_every_execution(wrong: list[float]) -> None:
    vector = vectors.load("ROI_POOLING", "float32_constant_batch_indices")
    device, (image, rois) = executor(vector), inputs_of(vector)
    run(device, [image, rois])
    assert rois is not None
    other = rois.copy()
    other[1] = wrong
    with pytest.raises(ServiceError, match=r"ROI_POOLING.C[56]") as caught:
        run(device, [image, other])
    assert caught.value.status == ErrorStatus.GENERAL_FAILURE
    run(device, [image, rois])


def test_results_of_another_length_than_declared_fail() -> None:
    vector = vectors.load("BOX_WITH_NMS_LIMIT", "float32_hard_by_hand")
    (count,) = vector.operands["scores_out"].dimensions
    assert run(executor(vector), inputs_of(vector))[0].shape == (count,)
    longer = replace(vector.operands["scores_out"], dimensions=(count + 1,))
    wrong = replace(vector, operands={**vector.operands, "scores_out": longer})
    with pytest.raises(ServiceError, match=rf"expected \({count + 1},\), found \({count},\)"):
        run(executor(wrong), inputs_of(vector))


def test_one_model_gives_results_of_several_lengths() -> None:
    vector = vectors.load("BOX_WITH_NMS_LIMIT", "float32_sizes_unknown")
    device, (scores, *others) = executor(vector), inputs_of(vector)
    assert scores is not None
    lengths = [len(run(device, [scores * numpy.float32(factor), *others])[3]) for factor in (1, 0.5, 0)]
    assert lengths[0] > lengths[1] > lengths[2] == 0


def test_regions_of_too_many_elements_exhaust_the_device() -> None:
    vector = vectors.load("ROI_ALIGN", "float32_of_a_linear_map")
    many = replace(vector.operands["sampling_h"], value=numpy.array(2**31 - 1, numpy.int32))
    device = executor(replace(vector, operands={**vector.operands, "sampling_h": many}))
    with pytest.raises(ServiceError) as caught:
        run(device, inputs_of(vector))
    assert caught.value.status == ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT
