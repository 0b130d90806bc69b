"""The public tolerance floor: what passes, what fails, what warns, and what the failure says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge.compare import Comparison, check_output, compare
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.tolerance import Circumstances, ToleranceOfWaiver, floor
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.vector_verdicts import Verdicts
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import ExtensionOperandType
from npu_conformance.specs.versions import NEWEST

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

NAN, INFINITY = float("nan"), float("inf")
T = OperandType
DTYPES = {
    T.TENSOR_FLOAT32: "float32", T.FLOAT32: "float32", T.TENSOR_FLOAT16: "float16", T.TENSOR_INT32: "int32",
    T.TENSOR_QUANT8_ASYMM: "uint8", T.TENSOR_QUANT16_SYMM: "int16", T.TENSOR_BOOL8: "uint8",
    T.TENSOR_QUANT8_SYMM_PER_CHANNEL: "int8", T.UINT32: "uint32",
}  # fmt: skip


def compared(kind: OperandType, actual: list[float], expected: list[float], **circumstances: bool) -> Comparison:
    rules = floor(kind, Circumstances(**circumstances))
    dtype = DTYPES[kind]
    return compare("output", np.array(actual, dtype), np.array(expected, dtype), kind, rules)


@pytest.mark.parametrize(
    ("kind", "actual", "expected", "circumstances", "passes"),
    [
        (T.TENSOR_FLOAT32, 1.00001, 1.0, {}, True),
        (T.TENSOR_FLOAT32, 1.00002, 1.0, {}, False),
        (T.TENSOR_FLOAT32, 1.009, 1.0, {"relaxed": True}, True),
        (T.TENSOR_FLOAT32, 1.011, 1.0, {"relaxed": True}, False),
        (T.TENSOR_FLOAT32, 1.009, 1.0, {"any_float16": True}, True),
        (T.TENSOR_FLOAT32, 1.011, 1.0, {"any_float16": True}, False),
        (T.TENSOR_FLOAT16, 1.009, 1.0, {}, True),
        (T.TENSOR_FLOAT16, 1.012, 1.0, {}, False),
        (T.TENSOR_INT32, 8, 7, {}, True),
        (T.TENSOR_INT32, 9, 7, {}, False),
        (T.TENSOR_QUANT8_ASYMM, 0, 1, {}, True),
        (T.TENSOR_QUANT8_ASYMM, 255, 0, {}, False),
        (T.TENSOR_QUANT8_ASYMM, 2, 0, {}, False),
        (T.TENSOR_QUANT8_ASYMM, 3, 0, {"mobilenet": True}, True),
        (T.TENSOR_QUANT8_ASYMM, 4, 0, {"mobilenet": True}, False),
        (T.TENSOR_QUANT8_ASYMM, 2, 0, {"relaxed": True}, False),
        (T.TENSOR_QUANT16_SYMM, -1, 0, {}, True),
        (T.TENSOR_QUANT16_SYMM, -2, 0, {}, False),
        (T.TENSOR_QUANT8_SYMM_PER_CHANNEL, 2, 0, {}, False),
        (T.TENSOR_BOOL8, 1, 0, {}, False),
        (T.TENSOR_BOOL8, 255, 1, {}, True),
        (T.UINT32, 1, 0, {}, False),
        (T.TENSOR_FLOAT32, NAN, NAN, {}, True),
        (T.TENSOR_FLOAT32, NAN, 1.0, {}, False),
        (T.TENSOR_FLOAT32, 1.0, NAN, {}, False),
        (T.TENSOR_FLOAT32, INFINITY, INFINITY, {}, True),
        (T.TENSOR_FLOAT32, -INFINITY, INFINITY, {}, False),
        (T.TENSOR_FLOAT32, 3e38, INFINITY, {}, False),
        (T.TENSOR_FLOAT32, INFINITY, 3e38, {}, False),
        (T.TENSOR_FLOAT32, NAN, INFINITY, {}, False),
        (T.TENSOR_FLOAT32, -0.0, 0.0, {}, True),
        (T.TENSOR_FLOAT32, 0.0, 1e-40, {}, True),
    ],
)
def test_the_floor(
    kind: OperandType, actual: float, expected: float, circumstances: dict[str, bool], passes: bool
) -> None:
    assert (compared(kind, [actual], [expected], **circumstances).failing == 0) is passes


@pytest.mark.parametrize(
    ("kind", "actual", "expected", "circumstances"),
    [
        (T.TENSOR_INT32, 8, 7, {}),
        (T.TENSOR_FLOAT32, 1.001, 1.0, {"any_float16": True}),
        (T.TENSOR_BOOL8, 2, 1, {}),
    ],
)
def test_what_aosp_lets_through_is_a_quality_warning(
    kind: OperandType, actual: float, expected: float, circumstances: dict[str, bool]
) -> None:
    comparison = compared(kind, [actual], [expected], **circumstances)
    assert comparison.failing == 0
    assert comparison.warning


@pytest.mark.parametrize(
    ("kind", "actual", "expected", "circumstances"),
    [
        (T.TENSOR_INT32, 7, 7, {}),
        (T.TENSOR_FLOAT32, 1.001, 1.0, {"relaxed": True}),
        (T.TENSOR_FLOAT32, 1.001, 1.0, {"relaxed": True, "any_float16": True}),
        (T.TENSOR_BOOL8, 1, 1, {}),
    ],
)
def test_no_warning_where_the_strict_rule_holds(
    kind: OperandType, actual: float, expected: float, circumstances: dict[str, bool]
) -> None:
    assert compared(kind, [actual], [expected], **circumstances).warning == ""


@pytest.mark.parametrize(
    ("kind", "actual", "expected", "verdict"),
    [
        (T.TENSOR_FLOAT32, 2.0, 1.0, "yes"),
        (T.FLOAT32, 2.0, 1.0, "unknown"),
        (T.UINT32, 2, 1, "unknown"),
        (T.TENSOR_FLOAT32, 1.0, NAN, "unknown"),
        (T.TENSOR_FLOAT32, 1.0, INFINITY, "unknown"),
        (T.TENSOR_FLOAT32, NAN, 1.0, "yes"),
    ],
)
def test_the_failure_says_whether_aosp_fails_too(
    kind: OperandType, actual: float, expected: float, verdict: str
) -> None:
    comparison = compared(kind, [actual], [expected])
    assert comparison.aosp_fails == verdict
    assert comparison.message.endswith(f"AOSP's VTS would fail too: {verdict}")


def test_the_failure_says_where_what_and_how_many() -> None:
    expected = np.zeros((2, 3), np.float32)
    actual = expected.copy()
    actual[0, 1], actual[1, 2] = 0.5, -4.0
    message = compare("y", actual, expected, T.TENSOR_FLOAT32, floor(T.TENSOR_FLOAT32, Circumstances())).message
    for part in (
        "y: 2 of 6 elements",
        "element [0, 1]: expected 0, actual 0.5, difference 0.5, tolerance 1e-05",
        "worst [1, 2]: expected 0, actual -4",
    ):
        assert part in message


def test_a_wrong_shape_fails_also_where_the_elements_agree() -> None:
    rules = floor(T.TENSOR_FLOAT32, Circumstances())
    comparison = compare("y", np.zeros((2, 1)), np.zeros((1, 2)), T.TENSOR_FLOAT32, rules)
    assert comparison.failing
    assert "expected shape [1, 2], found [2, 1]" in comparison.message


def test_of_what_aosp_has_nothing_like_nothing_is_said_of_aosp() -> None:
    rules = floor(T.TENSOR_FLOAT32, Circumstances(in_aosp=False))
    for actual, expected in ((np.ones((2, 1)), np.zeros((2, 1))), (np.zeros((2, 1)), np.zeros((1, 2)))):
        comparison = compare("y", actual, expected, T.TENSOR_FLOAT32, rules)
        assert comparison.failing
        assert "AOSP" not in comparison.message


def test_an_empty_output_passes() -> None:
    rules = floor(T.TENSOR_FLOAT32, Circumstances())
    assert compare("y", np.zeros((0, 2)), np.zeros((0, 2)), T.TENSOR_FLOAT32, rules).failing == 0


def trial_with(subject: Any, *tolerances: ToleranceOfWaiver) -> CaseContext:
    case = Case("vts.a.b.c", lambda context: None, ("REQ-1",))
    return CaseContext(case, subject, tolerances_of=lambda name, requirements: tolerances)


def test_a_waived_tolerance_lets_through_just_what_it_says(subject: Any) -> None:
    context = trial_with(subject, ToleranceOfWaiver(lsb=2))
    arrays = np.array([2], np.uint8), np.array([0], np.uint8)
    check_output(context, "y", *arrays, T.TENSOR_QUANT8_ASYMM)
    assert context.own.excused is not None
    with pytest.raises(Failed, match="even with a waiver's tolerance"):
        check_output(context, "y", arrays[0] + 1, arrays[1], T.TENSOR_QUANT8_ASYMM)


def test_a_waived_tolerance_of_a_type_of_an_extension_is_measured_as_its_catalogue_does(subject: Any) -> None:
    own = ExtensionOperandType.make(1 << 16, "EXAMPLE", (0.0, 0.0))
    arrays = np.array([1.2]), np.array([1.0])
    check_output(trial_with(subject, ToleranceOfWaiver(atol=0.5)), "y", *arrays, own)
    with pytest.raises(Failed):
        check_output(trial_with(subject, ToleranceOfWaiver(lsb=1)), "y", *arrays, own)


def test_no_waived_tolerance_covers_a_wrong_boolean(subject: Any) -> None:
    context = trial_with(subject, ToleranceOfWaiver(atol=1.0, lsb=1))
    with pytest.raises(Failed, match="even with a waiver's tolerance"):
        check_output(context, "y", np.array([1], np.uint8), np.array([0], np.uint8), T.TENSOR_BOOL8)


def test_a_message_says_which_tolerance_is_a_waivers(subject: Any) -> None:
    context = trial_with(subject, ToleranceOfWaiver(atol=0.1, waiver="vts.generated.RELU6.*"))
    with pytest.raises(Failed) as caught:
        check_output(context, "y", np.array([5.5], np.float32), np.array([6.0], np.float32), T.TENSOR_FLOAT32)
    told = "difference 0.5, tolerance 0.1 (of the waiver vts.generated.RELU6.*; otherwise 1.358e-05)"
    assert told in str(caught.value)


@pytest.mark.parametrize(("expected", "actual"), [(INFINITY, 3.4e38), (NAN, 0.0)])
def test_a_message_about_an_infinity_speaks_of_no_tolerance(subject: Any, expected: float, actual: float) -> None:
    with pytest.raises(Failed, match="an infinity is wanted as it is, and a NaN as a NaN"):
        check_output(
            trial_with(subject), "y", np.array([actual], np.float32), np.array([expected], np.float32), T.TENSOR_FLOAT32
        )


def test_of_several_waivers_the_one_that_covers_an_output_excuses_it(subject: Any) -> None:
    narrow, wide = ToleranceOfWaiver(atol=0.1, waiver="vts.*"), ToleranceOfWaiver(atol=0.6, waiver="vts.one")
    context = trial_with(subject, narrow, wide)
    check_output(context, "y", np.array([5.5], np.float32), np.array([6.0], np.float32), T.TENSOR_FLOAT32)
    assert context.own.excused is not None
    with pytest.raises(Failed, match=r"tolerance 0\.6 \(of the waiver vts\.one; otherwise 1\.358e-05\)"):
        check_output(context, "y", np.array([5.5, 5.0], np.float32), np.full(2, 6.0, np.float32), T.TENSOR_FLOAT32)


def test_a_waiver_for_floats_does_not_widen_integers(subject: Any) -> None:
    context = trial_with(subject, ToleranceOfWaiver(atol=100.0))
    with pytest.raises(Failed):
        check_output(context, "y", np.array([9], np.int32), np.array([0], np.int32), T.TENSOR_INT32)


def test_without_a_waiver_the_floor_stands(subject: Any) -> None:
    context = trial_with(subject)
    with pytest.raises(Failed, match="1 of 1 elements") as caught:
        check_output(context, "y", np.array([2.0], np.float32), np.array([1.0], np.float32), T.TENSOR_FLOAT32)
    assert (caught.value.expected, caught.value.found) == ("1", "2")


@pytest.mark.parametrize(
    ("case", "witnesses", "says"),
    [
        ("vts.generated.ADD.float32_none_same", ("oracle",), True),
        ("vts.external.ADD.own", ("oracle",), False),
        ("cts.external.V1_2.add", ("aosp",), True),
    ],
)
def test_what_a_user_has_brought_is_not_in_aosp_unless_it_is_from_there(
    case: str, witnesses: tuple[str, ...], says: bool
) -> None:
    vector = replace(vectors.load("ADD", "float32_none_same"), witnesses=witnesses)
    context = CaseContext(Case(case, lambda context: None, ()), cast("SubjectHandle", None))
    outputs = {name: array + 1 for name, array in vector.examples[0].outputs.items()}
    built = build_request(vector, vector.examples[0], NEWEST)
    content = b"".join(array.tobytes() for array in outputs.values()).ljust(built.output_size, b"\0")
    with pytest.raises(Failed) as failed:
        Verdicts(context, vector).judge(0, built, content)
    assert ("AOSP's VTS would fail too: yes" in str(failed.value)) is says


@pytest.mark.parametrize(("kept", "says"), [(FILL, True), (0x5A, False)])
def test_what_was_not_written_is_told_to_be_so(kept: int, says: bool) -> None:
    vector = vectors.load("ADD", "float32_none_same")
    context = CaseContext(Case("vts.generated.ADD.own", lambda context: None, ()), cast("SubjectHandle", None))
    built = build_request(vector, vector.examples[0], NEWEST)
    with pytest.raises(Failed) as failed:
        Verdicts(context, vector).judge(0, built, bytes([kept]) * built.output_size)
    assert ("what is wrong was not written, and still holds the 0xA5 of the test" in str(failed.value)) is says
