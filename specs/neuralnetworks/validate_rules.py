"""The structural rules of models and requests, enumerable: id, sentence, versions, and how late a device may detect it.

The numbers follow the order of checks of the shared validator that Android ships to drivers.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from npu_conformance.specs.versions import HIDL_LAST, NEWEST, OLDEST, Version

Moment = Literal["validation", "execution", "text"]


class StructuralRule(msgspec.Struct, frozen=True):
    """One rule. text: what must hold. since, until: the versions it binds.

    latest: `validation` where getSupportedOperations and prepareModel (or the execution call, for a request) answer
    INVALID_ARGUMENT; `execution` where a device may prepare the model and fail later; `text` where only the interface
    documents ask for it and Android's own validator does not look, so that a device may accept it.
    """

    id: str
    text: str
    since: Version = OLDEST
    until: Version = NEWEST
    latest: Moment = "validation"


def _model(number: str, text: str, since: Version = OLDEST, until: Version = NEWEST) -> StructuralRule:
    return StructuralRule(f"MODEL.{number}", text, since, until)


def _late(number: str, text: str, latest: Moment, since: Version = OLDEST) -> StructuralRule:
    return StructuralRule(f"MODEL.{number}", text, since, latest=latest)


def _request(number: str, text: str, since: Version = OLDEST, latest: Moment = "validation") -> StructuralRule:
    return StructuralRule(f"REQUEST.{number}", text, since, latest=latest)


_V = Version

RULES: dict[str, StructuralRule] = {
    rule.id: rule
    for rule in (
        _model("M1", "The main graph has at least one operation and one operand."),
        _model("M3", "Every memory pool is of a kind the version knows, has a handle and no negative size."),
        _model("M4", "No chain of subgraph references leads back to where it began.", _V.V1_3),
        _late("M5", "Every referenced subgraph is referred to by an operand.", "text", _V.V1_3),
        _model("O1", "The version knows the operand type."),
        _model("O2", "A scalar has no dimensions."),
        _model("O3", "A tensor has dimensions; since 1.2 only a constant must."),
        _model("O4", "The scale is 0, not negative or positive, as the operand type asks for."),
        _late("O4F", "The scale is a finite number.", "text"),
        _model("O5", "The zero point lies in the range of the operand type."),
        _model("O6", "Extra parameters are of the kind that the operand type takes, or absent.", _V.V1_2),
        _late("O6H", "A FLOAT16 operand has no extra parameters.", "text", _V.V1_2),
        _model("O7", "Per-channel scales are positive, one for each index of a dimension of known size.", _V.V1_2),
        _model("O8", "A constant in the model lies inside the bytes of operand values and names pool 0."),
        _model("O9", "A constant in a pool lies inside an existing pool."),
        _model("O10", "Operands that are not constants or references have an all-zero location."),
        _model("O11", "A subgraph reference names an existing subgraph by offset and nothing else.", _V.V1_3),
        _model("O12", "The lifetime is known; it is SUBGRAPH exactly for operands of type SUBGRAPH."),
        _model("O13", "The length of a constant is the size of its type and dimensions."),
        _late("O13D", "A constant has no dimension of unknown size.", "text"),
        _model("O14", "The padding of an operand's location is 0.", _V.FL5),
        _model("O15", "Dimensions are numbers that the version can represent, not negative."),
        _model("P1", "The version knows the operation."),
        _model("P2", "Operands of an operation exist in its subgraph."),
        _model("P3", "Counts and types of inputs and outputs are those of a signature of the version."),
        _late("P3R", "The rank of an operand, where known, is one that the signature allows.", "execution"),
        _late("P3O", "Only optional inputs are omitted.", "execution"),
        _model("P4", "An operation writes temporaries and graph outputs only."),
        _model("P5", "IF has a condition and two branches whose inputs and outputs fit its own.", _V.V1_3),
        _model("P6", "WHILE has a condition and a body whose inputs and outputs fit its own.", _V.V1_3),
        _model("P7", "Operands at both sides of a subgraph's border are compatible.", _V.V1_3),
        _model("P8", "For a driver, operands at the border of WHILE have a known size; a runtime is laxer.", _V.V1_3),
        _model("G1", "Graph inputs and outputs are listed once, exactly those with the lifetime."),
        _model("G3", "An operation reads only operands that have a value by then."),
        _model("G4", "An operand is written once."),
        _model("G5", "The number of consumers is how often operations read the operand.", until=HIDL_LAST),
        _model("G6", "Every temporary and graph output is written."),
        _late("G7", "A graph has at least one input and one output.", "text"),
        _model("X2", "Extension names and prefixes are mapped one to one, prefixes in the version's range.", _V.V1_2),
        _model("X5", "The prefix of an extension type or operation is in the model's mapping.", _V.V1_2),
        _request("R1", "A request has as many inputs and outputs as the model."),
        _request("R2", "An argument without value has an all-zero location and no dimensions."),
        _request(
            "R3", "An argument, with its padding in AIDL, lies in an existing pool; in a device buffer it has zeros."
        ),
        _request("R4", "Dimensions of an argument agree with the model's; those of an input are not 0."),
        _request("R5", "After combining model and request, inputs (and outputs where demanded) have known dimensions."),
        _request("R6", "The length of an argument is the size of its type and dimensions.", _V.FL5, "text"),
        _request("R7", "Outputs overlap neither each other nor inputs nor constants in pools.", latest="text"),
        _request("R8", "Every memory pool is of a known kind with a handle; the token of a device buffer is positive."),
    )
}
"""Every structural rule by its id."""
