"""The public floor: how far an output may be from the expected value, and how far AOSP's own harness lets it be.

Source: AOSP's generated tests (TestHarness.cpp), NNHAL-ACCURACY-001 to -007. Where AOSP is looser than the requirement
reads (int32 by one; one float16 operand anywhere gives float32 outputs the float16 rule) the floor follows AOSP, and
`strict` holds what the requirement reads: beyond it is a quality warning.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from npu_conformance.specs.documents.waivers import WaivedTolerance
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import ExtensionOperandType


class Tolerance(msgspec.Struct, frozen=True):
    """An element passes where abs(expected - actual) <= atol + rtol * abs(expected), in stored values, in float64.

    waiver: the id of the waiver that has made it so wide; public: what it is without.
    """

    atol: float
    rtol: float = 0.0
    waiver: str = ""
    public: Tolerance | None = None

    def at(self, expected: float) -> float:
        """How far an element may be off."""
        return self.atol + self.rtol * abs(expected)

    def told_at(self, expected: float) -> str:
        """The same in words, with the waiver that says so."""
        told = f"{self.at(expected):.4g}"
        if self.public is None or self.public.at(expected) == self.at(expected):
            return told
        return f"{told} (of the waiver {self.waiver}; otherwise {self.public.at(expected):.4g})"

    def of_two_results(self) -> Tolerance:
        """How far two results may be from each other that are each allowed to be so far from one expected value."""
        return Tolerance(2 * self.atol, 2 * self.rtol)

    def __str__(self) -> str:
        return f"{self.atol:g}" + (f" + {self.rtol:.4g} * |expected|" if self.rtol else "")


class ToleranceOfWaiver(WaivedTolerance, frozen=True):
    """The tolerance of a waiver. waiver: its id."""

    waiver: str = ""


class Circumstances(msgspec.Struct, frozen=True):
    """The properties of a model that decide the tolerance.

    any_float16: a TENSOR_FLOAT16 operand in any subgraph. mobilenet: AOSP's quantised mobilenet, which may be off by 3.
    in_aosp: AOSP's VTS has models of the kind, unlike those of vendors' extensions, and vectors that they bring.
    """

    relaxed: bool = False
    any_float16: bool = False
    mobilenet: bool = False
    in_aosp: bool = True


ORDINARY = Circumstances()


class Floor(msgspec.Struct, frozen=True):
    """The rules for one output.

    judged: decides pass or fail. strict: beyond it is a quality warning. aosp: AOSP's rule; None for none. in_aosp: see
    Circumstances.
    """

    judged: Tolerance
    strict: Tolerance
    aosp: Tolerance | None
    in_aosp: bool = True

    def widened(self, waived: ToleranceOfWaiver, operand_type: int) -> Floor:
        """The floor with what a waiver allows on top for a type."""
        atol, rtol = _waived(waived, operand_type)
        judged = Tolerance(max(self.judged.atol, atol), max(self.judged.rtol, rtol), waived.waiver, self.judged)
        return replace(self, judged=judged)


EXACT = Tolerance(0.0)
ONE_STEP = Tolerance(1.0)
THREE_STEPS = Tolerance(3.0)
SINGLE = Tolerance(1e-5, 5 * 2.0**-23)
HALF = Tolerance(5 * 2.0**-10, 5 * 2.0**-10)

_T = OperandType
FLOATS = frozenset({_T.FLOAT32, _T.TENSOR_FLOAT32, _T.FLOAT16, _T.TENSOR_FLOAT16})
BOOLS = frozenset({_T.BOOL, _T.TENSOR_BOOL8})
_QUANT8 = frozenset({_T.TENSOR_QUANT8_ASYMM, _T.TENSOR_QUANT8_ASYMM_SIGNED, _T.TENSOR_QUANT8_SYMM})
_QUANT16 = frozenset({_T.TENSOR_QUANT16_ASYMM, _T.TENSOR_QUANT16_SYMM})
_AOSP_REFUSES = frozenset({_T.FLOAT32, _T.FLOAT16, _T.BOOL, _T.UINT32, _T.TENSOR_QUANT8_SYMM_PER_CHANNEL})


def floor(operand_type: int, circumstances: Circumstances) -> Floor:
    """Return the rules for an output type. AOSP compares no float scalar, BOOL, UINT32 or per-channel output.

    The catalogue of an extension says how far outputs of its types may be off.
    """
    if isinstance(operand_type, ExtensionOperandType):
        own = Tolerance(*operand_type.tolerance)
        return Floor(own, own, None, in_aosp=False)
    judged, strict = _rules(operand_type, circumstances)
    return Floor(judged, strict, None if operand_type in _AOSP_REFUSES else judged, circumstances.in_aosp)


def _waived(waived: ToleranceOfWaiver, operand_type: int) -> tuple[float, float]:
    """What a waiver allows of atol and rtol. Types of extensions are measured as their catalogues do it."""
    if operand_type in BOOLS:
        return 0.0, 0.0
    if operand_type in FLOATS or isinstance(operand_type, ExtensionOperandType):
        return waived.atol, waived.rtol
    return float(waived.lsb), 0.0


def _rules(operand_type: int, circumstances: Circumstances) -> tuple[Tolerance, Tolerance]:
    if operand_type in (_T.FLOAT32, _T.TENSOR_FLOAT32):
        if circumstances.relaxed:
            return HALF, HALF
        return (HALF, SINGLE) if circumstances.any_float16 else (SINGLE, SINGLE)
    if operand_type in (_T.FLOAT16, _T.TENSOR_FLOAT16):
        return HALF, HALF
    if operand_type in (_T.INT32, _T.TENSOR_INT32):
        return ONE_STEP, EXACT
    if operand_type in _QUANT8 and circumstances.mobilenet:
        return THREE_STEPS, THREE_STEPS
    if operand_type in _QUANT8 | _QUANT16 or operand_type == _T.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return ONE_STEP, ONE_STEP
    return EXACT, EXACT
