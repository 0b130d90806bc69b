"""Red cases in groups: one line for what has one cause, one for each operation whose own values are wrong."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.report import symptoms
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, OperationUse
from npu_conformance.specs.outcomes import Outcome

VALUES = "output 'output': {} of 48 elements outside 1e-05 + 5.96e-07 * |expected|"


def red(operation: str, message: str, requirement: str = "", number: int = 0) -> CaseResult:
    return CaseResult(
        case=f"vts.generated.{operation}.c{number}",
        outcome=Outcome.FAIL,
        own_outcome=Outcome.FAIL,
        message=message,
        operations=(operation,),
        types=("TENSOR_FLOAT32",),
        requirements=(requirement or f"NNHAL-OPERATION-{operation}-RESULT",),
    )


def lines(*results: CaseResult) -> list[str]:
    return [line.strip() for line in symptoms.lines(symptoms.grouped(results))][1:]


def test_wrong_values_of_two_operations_are_two_causes() -> None:
    told = lines(
        *(red("TANH", VALUES.format(count), number=count) for count in (34, 3, 48)), red("MUL", VALUES.format(7))
    )
    assert told == [
        f"3 fail: {VALUES.format('3..48')} (TANH; TENSOR_FLOAT32)",
        f"1 fail: {VALUES.format(7)} (MUL; TENSOR_FLOAT32)",
    ]


def test_a_rule_that_operations_share_is_one_cause() -> None:
    message = "prepareModel: expected NONE, found GENERAL_FAILURE"
    told = lines(*(red(name, message, "NNHAL-PREPARE-004") for name in ("TANH", "MUL", "ADD", "SUB")))
    assert told == [
        "4 fail: prepareModel: expected NONE, found GENERAL_FAILURE (TANH, MUL, ADD and 1 more; TENSOR_FLOAT32)"
    ]


def test_what_was_found_is_told_where_cases_may_share_it() -> None:
    found = {
        "GENERAL_FAILURE; CONV_2D, filter [1, 1, 2, 2]": "GENERAL_FAILURE",
        "OUTPUT_INSUFFICIENT_SIZE": "OUTPUT_INSUFFICIENT_SIZE",
        "none": "none",
        "(2, 3, 4)": "(2, 3, 4)",
        "((OutputShape(dimensions=(5,)),), Timing())": "",
    }
    told = lines(*(red("ADD", f"execution: expected NONE, found {said}", "NNHAL-EXECUTE-001") for said in found))
    expected = [f"execution: expected NONE{f', found {kept}' if kept else ''}" for kept in found.values()]
    assert told == [f"1 fail: {text} (ADD; TENSOR_FLOAT32)" for text in expected]


def test_found_numbers_become_ranges() -> None:
    messages = [f"dimensions of output: expected ({n}, 2), found (2, {n})" for n in (1, 4)]
    told = lines(*(red("ADD", message, "NNHAL-EXECUTE-002") for message in messages))
    assert told == ["2 fail: dimensions of output: expected (1..4, 2), found (2, 1..4) (ADD; TENSOR_FLOAT32)"]


def test_a_clause_that_operations_share_is_one_cause() -> None:
    broken = {"DIV": 2, "ADD": 2, "RELU": 1, "TANH": 3, "GONE": 1}
    message = "the device executes what breaks {}.C{}: expected a rejection, found NONE"
    told = lines(*(red(name, message.format(name, n), f"NNHAL-OPERATION-{name}-C{n}") for name, n in broken.items()))
    rank = "each input has a rank that the signature allows"
    shape = "the declared dimensions of the outputs, where known, are the computed ones"
    found = "expected a rejection, found NONE"
    assert told == [
        f'3 fail: the device executes what breaks "{rank}": {found} (DIV, ADD, RELU; TENSOR_FLOAT32)',
        f'1 fail: the device executes what breaks "{shape}": {found} (TANH; TENSOR_FLOAT32)',
        f"1 fail: the device executes what breaks GONE.C1: {found} (GONE; TENSOR_FLOAT32)",
    ]


def test_causes_that_are_not_shown_are_counted() -> None:
    told = lines(*(red(name, VALUES.format(1)) for name in ("ADD", "SUB", "MUL", "DIV", "TANH", "RELU", "ELU")))
    assert told[-1] == "2 others, of 2 causes"


def test_no_line_hides_one_line() -> None:
    told = lines(*(red(name, VALUES.format(1)) for name in ("ADD", "SUB", "MUL", "DIV", "TANH", "RELU")))
    assert len(told) == 6
    assert told[-1].endswith("(RELU; TENSOR_FLOAT32)")


def test_all_causes_are_told_on_demand() -> None:
    found = symptoms.grouped(
        [red(name, VALUES.format(1)) for name in ("ADD", "SUB", "MUL", "DIV", "TANH", "ELU", "EXP")]
    )
    assert len(list(symptoms.lines(found, whole=True))) == 8


def test_types_that_the_device_refuses_everywhere_are_not_named() -> None:
    """FLOAT16 fails, BOOL8 was refused once and executed once; INT32 was never executed."""
    types = ("TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_INT32", "TENSOR_BOOL8")
    refused = [(OperationUse("ABS", types=(kind,), supported=False),) for kind in types[2:]]
    parts = tuple(
        ConfigurationResult(kind, Outcome.NOT_SUPPORTED, refused=(model,))
        for kind, model in zip("ab", refused, strict=True)
    )
    executed = {"ABS": ("TENSOR_FLOAT32", "TENSOR_BOOL8")}
    told = lines(replace(red("ABS", "IndexError"), types=types, configurations=parts, executed=executed))
    assert told == ["1 fail: IndexError (ABS; TENSOR_FLOAT32, TENSOR_FLOAT16, TENSOR_BOOL8)"]


def test_what_was_worked_out_by_hand_is_told_first() -> None:
    others = [red("TANH", VALUES.format(count), number=count) for count in (34, 3)]
    by_hand = replace(red("TANH", VALUES.format(1)), case="vts.generated.TANH.by_hand_zero")
    (symptom,) = symptoms.grouped([*others, by_hand])
    assert symptom.cases == [by_hand, *others]


def test_nothing_is_said_of_operations_where_none_is_known() -> None:
    """As of a case whose worker died."""
    (symptom,) = symptoms.grouped(
        [CaseResult(case="vts.a.b.c", outcome=Outcome.SUITE_ERROR, message="the worker died")]
    )
    assert symptom.line() == "    1 suite-error: the worker died"
