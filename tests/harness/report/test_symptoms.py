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
    assert told == ["4 fail: prepareModel: expected NONE (TANH, MUL, ADD and 1 more; TENSOR_FLOAT32)"]


def test_a_clause_that_operations_share_is_one_cause() -> None:
    broken = {"DIV": 2, "ADD": 2, "RELU": 1, "TANH": 3, "GONE": 1}
    message = "the device executes what breaks {}.C{}: expected a rejection, found NONE"
    told = lines(*(red(name, message.format(name, n), f"NNHAL-OPERATION-{name}-C{n}") for name, n in broken.items()))
    rank = "each input has a rank that the signature allows"
    shape = "the declared dimensions of the outputs, where known, are the computed ones"
    assert told == [
        f'3 fail: the device executes what breaks "{rank}": expected a rejection (DIV, ADD, RELU; TENSOR_FLOAT32)',
        f'1 fail: the device executes what breaks "{shape}": expected a rejection (TANH; TENSOR_FLOAT32)',
        "1 fail: the device executes what breaks GONE.C1: expected a rejection (GONE; TENSOR_FLOAT32)",
    ]


def test_causes_that_are_not_shown_are_counted() -> None:
    told = lines(*(red(name, VALUES.format(1)) for name in ("ADD", "SUB", "MUL", "DIV", "TANH", "RELU", "ELU")))
    assert told[-1] == "2 others, of 2 causes"


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
