"""What the NNAPI C API promises of models, compilations and descriptors: their states, and the code of each call.

Pure, and small: models are ADDs of vectors of two floats. Nothing here is taken from an implementation. Where the API
leaves open what a call returns, the method answers None, and the call is not made.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

SIZES = {"vector": 8, "scalar": 4}
"""Bytes of an operand, by kind. The kind `unknown` is a vector whose length the model does not know."""
WRONG_OPERANDS = {
    "scalar with dimensions": "FW-MDL-003",
    "scaled float": "FW-MDL-009",
    "no such type": "FW-MDL-004",
    "dimensions without a count": "FW-MDL-002",
    "count without dimensions": "FW-MDL-002",
    "unscaled code": "FW-MDL-005",
    "code without a zero point": "FW-MDL-005",
    "signed code without a zero point": "FW-MDL-006",
    "symmetric code with a zero point": "FW-MDL-007",
    "long code without a zero point": "FW-MDL-008",
    "too many bytes": "FW-MDL-010",
}
"""Descriptions that are refused, and by which requirement."""
Indexes = tuple[int, ...]
Vector = tuple[float, float]
_ADD, _UNKNOWN_OPERATION, _UNKNOWN_OPERAND, _VENDORS = 0, 106, 16, 10000
"""Codes: from the unknown ones up to those of vendors nothing is assigned."""
_SCALARS = (0, 1, 2, 6, 10)
_BOUNDS = {1: (0.0, float("inf")), 2: (-1.0, 1.0), 3: (0.0, 6.0)}
"""Of a fused activation."""


class Required(NamedTuple):
    """The code that a call has to return, and the requirement that says so. others: codes that are as right."""

    code: ResultCode
    requirement: str = ""
    others: tuple[ResultCode, ...] = ()

    @property
    def codes(self) -> tuple[ResultCode, ...]:
        """All that are right."""
        return (self.code, *self.others)


Code = Required | None
"""None where the API leaves it open."""
OK = Required(ResultCode.NO_ERROR)
NO_MEMORY = (ResultCode.OP_FAILED, ResultCode.OUT_OF_MEMORY)
"""Why there is no memory from a descriptor: no device has any, or nobody has room for more."""


def null(requirement: str = "FW-API-001") -> Required:
    """A pointer is null."""
    return Required(ResultCode.UNEXPECTED_NULL, requirement)


def bad_data(requirement: str) -> Required:
    """An argument is wrong."""
    return Required(ResultCode.BAD_DATA, requirement)


def bad_state(requirement: str) -> Required:
    """The object is in the wrong state."""
    return Required(ResultCode.BAD_STATE, requirement)


def any_of(*mistakes: Required | None) -> Required | None:
    """What a call with these mistakes has to return, None one without any.

    Of several any code is right: unless a requirement says which is looked at first, no document orders them.
    """
    made = [one for one in mistakes if one is not None]
    codes = dict.fromkeys(code for one in made for code in one.codes)
    return Required(made[0].code, made[0].requirement, tuple(codes)[1:]) if made else None


@dataclass
class ModelState:
    """A model. operands: their kinds. constants: by index. operations: as added.

    ended: valid, or not; None while it is built. is_open: a refused call may have left something.
    """

    operands: list[str] = field(default_factory=list)
    constants: dict[int, bytes] = field(default_factory=dict)
    operations: list[tuple[Indexes, int]] = field(default_factory=list)
    inputs: Indexes = ()
    output: int | None = None
    ended: bool | None = None
    is_open: bool = False

    def _refused(self, wrong: Required | None = None) -> Required | None:
        """Why a change is refused: it comes too late, is wrong itself, or both. None where neither is so."""
        late = None if self.ended is None else bad_state("FW-MDL-001" if self.ended else "FW-MDL-025")
        return any_of(late, wrong)

    def add_operand(self, kind: str) -> Code:
        """kind: vector, unknown, scalar, or one of those that are refused."""
        refused = self._refused(bad_data(WRONG_OPERANDS[kind]) if kind in WRONG_OPERANDS else None)
        if refused is None:
            self.operands.append(kind)
        return refused or OK

    def set_value(self, index: int, value: bytes) -> Code:
        """A constant by pointer. Whether a second value takes the place of the first is open."""
        if refused := self._refused(self._wrong_value(index, len(value))):
            return refused
        if self.is_open or index in (*self.inputs, self.output) or self.constants.get(index, value) != value:
            return None
        self.constants[index] = value
        return OK

    def _wrong_value(self, index: int, length: int) -> Required | None:
        if not 0 <= index < len(self.operands):
            return bad_data("FW-MDL-012")
        if self.operands[index] == "unknown":
            return bad_data("FW-MDL-013")
        return None if length == SIZES[self.operands[index]] else bad_data("FW-MDL-012")

    def add_operation(self, inputs: Indexes, output: int) -> Code:
        """An ADD."""
        if refused := self._refused(self._wrong_operation(inputs, output)):
            return refused
        if self.is_open:
            return None
        self.operations.append((inputs, output))
        return OK

    def _wrong_operation(self, inputs: Indexes, output: int) -> Required | None:
        if max((*inputs, output)) >= len(self.operands) or len(inputs) != 3:
            return bad_data("FW-MDL-021")
        vectors = [self.operands[index] != "scalar" for index in (*inputs[:2], output)]
        return None if all(vectors) and self.operands[inputs[2]] == "scalar" else bad_data("FW-MDL-021")

    def add_any_operand(self, code: int, dimensions: Indexes) -> Code:
        """An operand by the code of its type; what the model of the API has no kind for is open."""
        if self.ended is not None:
            return self._refused(bad_data("FW-MDL-004"))  # whether it is wrong as well is open
        if code < 0 or _UNKNOWN_OPERAND <= code < _VENDORS:
            return bad_data("FW-MDL-004")
        return bad_data("FW-MDL-003") if code in _SCALARS and dimensions else None

    def add_any_operation(self, code: int, inputs: Indexes, outputs: Indexes) -> Code:
        """An operation by its code; whether one that is no ADD is right is open, unless a number is of no operand."""
        if self.ended is not None:
            return self._refused(bad_data("FW-MDL-021"))  # whether it is wrong as well is open
        is_unknown = code < 0 or _UNKNOWN_OPERATION <= code < _VENDORS
        if inputs and outputs and (is_unknown or max(*inputs, *outputs) >= len(self.operands)):
            return bad_data("FW-MDL-021")
        if code != _ADD or not (inputs and outputs):
            return None
        return self.add_operation(inputs, outputs[0]) if len(outputs) == 1 else bad_data("FW-MDL-021")

    def identify_any(self, inputs: Indexes, outputs: Indexes) -> Code:
        """As many as there are; what is legal and not two vectors and one is open, since nothing here computes it."""
        chosen = (*inputs, *outputs)
        if self.ended is not None:
            return self._refused(self._wrong_choice(chosen) if inputs and outputs else bad_data("FW-MDL-022"))
        if self.output is not None or self.is_open or not (inputs and outputs):
            return None
        if wrong := self._wrong_choice(chosen):
            self.is_open = True
            return wrong
        are_scalars = any(self.operands[index] == "scalar" for index in chosen)
        return None if are_scalars or (len(inputs), len(outputs)) != (2, 1) else self.identify(inputs, outputs[0])

    def _wrong_choice(self, chosen: Indexes) -> Required | None:
        is_outside = max(chosen) >= len(self.operands)
        is_wrong = is_outside or len(set(chosen)) < len(chosen) or set(self.constants) & set(chosen)
        return bad_data("FW-MDL-022") if is_wrong else None

    def refused_from_memory(self, index: int, size: int, offset: int, length: int) -> Code:
        """A constant in shared memory of so many bytes; None where it is legal: what lies there may change."""
        is_outside = not 0 <= index < len(self.operands) or offset + length > size
        return self._refused(bad_data("FW-MDL-017") if is_outside else self._wrong_value(index, length))

    def identify(self, inputs: Indexes, output: int) -> Code:
        """Inputs and output. What is left of a refused call is open, and so is a second call."""
        wrong = self._wrong_choice((*inputs, output))
        if self.ended is not None:
            return self._refused(wrong)
        if self.output is not None or self.is_open or max((*inputs, output)) >= len(self.operands):
            return None
        if wrong:
            self.is_open = True
            return wrong
        self.inputs, self.output = inputs, output
        return OK

    def finish(self) -> Code:
        """None where an operand is used by nothing, or a constant is written, of which the API does not speak."""
        if self.ended is not None:
            return self._refused()
        written = [output for _, output in self.operations]
        used = {index for inputs, _ in self.operations for index in inputs}
        if set(self.constants) & set(written) or set(range(len(self.operands))) - used - set(written):
            return None
        if self.is_open or set(self.inputs) - used:
            return None
        self.ended = self._is_valid(written, used)
        return Required(ResultCode.NO_ERROR, "FW-MDL-024") if self.ended else bad_data("FW-MDL-023")

    def _is_valid(self, written: list[int], used: set[int]) -> bool:
        if self.output is None or not written or len(set(written)) < len(written) or set(written) & set(self.inputs):
            return False
        known = {*self.inputs, *self.constants}
        if self.output not in written or used - known - set(written):
            return False
        return len(self._ordered(known)) == len(self.operations)

    def _ordered(self, known: set[int]) -> list[tuple[Indexes, int]]:
        """The operations that can be computed, in an order in which each reads what is written."""
        left, ordered = list(self.operations), list[tuple[Indexes, int]]()
        while ready := [operation for operation in left if known.issuperset(operation[0])]:
            known |= {output for _, output in ready}
            left = [operation for operation in left if operation not in ready]
            ordered += ready
        return ordered

    def result(self, inputs: Sequence[bytes]) -> bytes:
        """What a valid model computes of these inputs, all of which are small whole numbers: it is exact."""
        values = {**self.constants, **dict(zip(self.inputs, inputs, strict=True))}
        for (first, second, activation), output in self._ordered(set(values)):
            low, high = _BOUNDS.get(struct.unpack("<i", values[activation])[0], (-float("inf"), float("inf")))
            pairs = zip(struct.unpack("<2f", values[first]), struct.unpack("<2f", values[second]), strict=True)
            values[output] = struct.pack("<2f", *(min(max(one + other, low), high) for one, other in pairs))
        assert self.output is not None, "a valid model has an output"
        return values[self.output]


@dataclass
class CompilationState:
    """A compilation. is_explicit: for one device that the app has named. said: what was accepted, by setter."""

    model: ModelState
    is_explicit: bool
    finished: bool = False
    said: dict[str, int] = field(default_factory=dict)

    def set(self, requirement: str = "", *, is_legal: bool = True, of_one_device: bool = False) -> Code:
        """A setter with a value that is legal or not. of_one_device: of which only such compilations have one."""
        late = bad_state("FW-CMP-003") if self.finished else None
        is_right = is_legal and (self.is_explicit or not of_one_device)
        return any_of(late, None if is_right else bad_data(requirement)) or OK

    def finish(self) -> Code:
        """Every model of this vocabulary can be compiled."""
        if self.finished:
            return bad_state("FW-CMP-003")
        self.finished = True
        return OK

    def use(self) -> Code:
        """An execution or a burst is made of it."""
        return OK if self.finished else bad_state("FW-EXE-001")

    def query(self, *, in_range: bool) -> Code:
        """Which alignment or padding it prefers."""
        if not self.finished:
            return bad_state("FW-CMP-008") if in_range else None
        return Required(ResultCode.NO_ERROR, "FW-CMP-009") if in_range else bad_data("FW-CMP-008")


@dataclass
class DescriptorState:
    """A descriptor of memory. roles: compilation, whether it is an input, index."""

    roles: list[tuple[int, bool, int]] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    finished: bool = False

    def add_role(self, compilation: CompilationState, is_input: bool, index: int, frequency: float) -> Code:
        """A role."""
        late = bad_state("FW-MEM-001") if self.finished else None
        if not compilation.finished or not 0 < frequency <= 1 or index >= (2 if is_input else 1):
            return any_of(late, bad_data("FW-MEM-002"))
        model, role = compilation.model, (id(compilation), is_input, index)
        kind = model.operands[model.inputs[index] if is_input else model.output or 0]
        if role in self.roles or (self.kinds and (kind == "scalar") != ("scalar" in self.kinds)):
            return any_of(late, bad_data("FW-MEM-002"))
        if late is None:
            self.roles.append(role)
            self.kinds.add(kind)
        return late or OK

    def finish(self) -> Code:
        """Ends it, where it has a role."""
        if self.finished:
            return bad_state("FW-MEM-001")
        if not self.roles:
            return bad_data("FW-MEM-001")
        self.finished = True
        return OK

    def allocate(self) -> Code:
        """Memory from it; where nobody knows the size there is none."""
        if not self.finished:
            return bad_state("FW-MEM-001")
        if self.kinds & {"vector", "scalar"}:
            return Required(ResultCode.NO_ERROR, "FW-MEM-009")
        return Required(ResultCode.OP_FAILED, "FW-MEM-008")
