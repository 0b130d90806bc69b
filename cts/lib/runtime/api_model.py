"""What the NNAPI C API promises of a sequence of calls: the states of its objects, and the code of each call.

Pure, and small: models are ADDs of vectors of two floats. Nothing here is taken from an implementation. Where the API
leaves open what a call returns, the method answers None, and the call is not made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

OK, NULL_CODE = ResultCode.NO_ERROR, ResultCode.UNEXPECTED_NULL
DATA, STATE = ResultCode.BAD_DATA, ResultCode.BAD_STATE
SIZES = {"vector": 8, "scalar": 4}
"""Bytes of an operand, by kind. The kind `unknown` is a vector whose length the model does not know."""
Indexes = tuple[int, ...]


@dataclass
class ModelState:
    """A model. operands: their kinds. constants, operations: as added. ended: valid, or not; None while it is built."""

    operands: list[str] = field(default_factory=list)
    constants: set[int] = field(default_factory=set)
    operations: list[tuple[Indexes, int]] = field(default_factory=list)
    inputs: Indexes = ()
    output: int | None = None
    ended: bool | None = None

    def add_operand(self, kind: str) -> ResultCode:
        """kind: vector, unknown, scalar, or anything else for a description that is wrong."""
        if self.ended is not None:
            return STATE
        if kind not in ("vector", "unknown", "scalar"):
            return DATA
        self.operands.append(kind)
        return OK

    def set_value(self, index: int, length: int) -> ResultCode:
        """A constant by pointer."""
        if self.ended is not None:
            return STATE
        if index >= len(self.operands) or SIZES.get(self.operands[index]) != length:
            return DATA
        self.constants.add(index)
        return OK

    def add_operation(self, inputs: Indexes, output: int) -> ResultCode:
        """An ADD."""
        if self.ended is not None:
            return STATE
        if max((*inputs, output)) >= len(self.operands) or len(inputs) != 3:
            return DATA
        vectors = [self.operands[index] != "scalar" for index in (*inputs[:2], output)]
        if not all(vectors) or self.operands[inputs[2]] != "scalar":
            return DATA
        self.operations.append((inputs, output))
        return OK

    def identify(self, inputs: Indexes, output: int) -> ResultCode | None:
        """Inputs and output. What is left of a refused call is open: only calls that cannot be refused are made."""
        if self.ended is not None:
            return STATE
        if self.output is not None or max((*inputs, output)) >= len(self.operands):
            return None
        if self.constants & {*inputs, output}:
            return None
        self.inputs, self.output = inputs, output
        return OK

    def finish(self) -> ResultCode | None:
        """None where an operand is used by nothing, or a constant is written, of which the API does not speak."""
        if self.ended is not None:
            return STATE
        written = [output for _, output in self.operations]
        used = {index for inputs, _ in self.operations for index in inputs}
        if self.constants & set(written) or set(range(len(self.operands))) - used - set(written):
            return None
        if set(self.inputs) - used:
            return None
        self.ended = self._is_valid(written, used)
        return OK if self.ended else DATA

    def _is_valid(self, written: list[int], used: set[int]) -> bool:
        if self.output is None or not written or len(set(written)) < len(written) or set(written) & set(self.inputs):
            return False
        known = {*self.inputs, *self.constants}
        if self.output not in written or used - known - set(written):
            return False
        return self._is_ordered(known)

    def _is_ordered(self, known: set[int]) -> bool:
        """Whether there is an order in which every operation reads what is written."""
        left = list(self.operations)
        while left:
            ready = [operation for operation in left if known.issuperset(operation[0])]
            if not ready:
                return False
            known |= {output for _, output in ready}
            left = [operation for operation in left if operation not in ready]
        return True


@dataclass
class CompilationState:
    """A compilation. is_explicit: for one device that the app has named."""

    model: ModelState
    is_explicit: bool
    finished: bool = False

    def set(self, is_legal: bool, *, of_one_device: bool = False) -> ResultCode:
        """A setter with a value that is legal or not. of_one_device: of which only such compilations have one."""
        if self.finished:
            return STATE
        return OK if is_legal and (self.is_explicit or not of_one_device) else DATA

    def finish(self) -> ResultCode:
        """Every model of this vocabulary can be compiled."""
        if self.finished:
            return STATE
        self.finished = True
        return OK


@dataclass
class ExecutionState:
    """An execution. arguments: what is set, inputs first. phase: prepared, started, completed."""

    compilation: CompilationState
    level: Version
    arguments: set[int] = field(default_factory=set)
    phase: str = "prepared"
    result: ResultCode = OK
    reusable: bool = False
    measures: bool = False

    def kind(self, slot: int) -> str:
        """The kind of an input, or of the output, which is slot 2."""
        model = self.compilation.model
        return model.operands[(*model.inputs, model.output or 0)[slot]]

    def set_argument(self, slot: int, typed: bool, length: int, *, in_range: bool = True) -> ResultCode | None:
        """Input 0 or 1, or the output as 2. typed: with the type of a vector of two.

        in_range: False for an index of no argument.
        """
        if self.phase != "prepared":
            return STATE
        if not in_range:
            return DATA
        kind = self.kind(slot)
        if (kind == "scalar" and typed) or (kind == "unknown" and not typed and slot != 2):
            return DATA
        if kind == "unknown" and not typed:
            return None  # room for an output of unknown size
        if slot in self.arguments:
            return STATE
        if SIZES["scalar" if kind == "scalar" else "vector"] != length:
            return DATA
        self.arguments.add(slot)
        return OK

    def set(self, *, of_one_device: bool = False, before_arguments: bool = False) -> ResultCode:
        """Any other setter. before_arguments: once an argument is set it is too late."""
        if of_one_device and not self.compilation.is_explicit:
            return DATA
        if self.phase != "prepared" or (before_arguments and self.arguments):
            return STATE
        return OK

    def compute(self) -> ResultCode | None:
        """None while it is under way and may compute again once it is over."""
        if self.phase == "started" and self.reusable:
            return None
        if self.phase != "prepared" and not self.reusable:
            return STATE
        if self.phase == "completed" and self.result != OK:
            return self.result
        if len(self.arguments) < 3:
            return self._lacks_argument()
        self.phase, self.result = "completed", OK
        return OK

    def _lacks_argument(self) -> ResultCode:
        """Since feature level 5 the execution is spent by it (1.3 of the C API's object states)."""
        if self.level >= Version.FL5:
            self.phase, self.result = "completed", DATA
        return DATA

    def query(self, *, in_range: bool) -> ResultCode | None:
        """Rank or dimensions of the output."""
        if self.phase == "started":
            return None
        if self.phase == "prepared" or self.result != OK:
            return STATE
        return OK if in_range else DATA

    def duration(self, *, is_code: bool) -> ResultCode | None:
        """A duration."""
        if not is_code:
            return DATA
        if self.phase == "started":
            return None
        return OK if self.phase == "completed" and self.result == OK and self.measures else STATE


@dataclass
class DescriptorState:
    """A descriptor of memory. roles: compilation, whether it is an input, index."""

    roles: list[tuple[int, bool, int]] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    finished: bool = False

    def add_role(self, compilation: CompilationState, is_input: bool, index: int, frequency: float) -> ResultCode:
        """A role."""
        if self.finished:
            return STATE
        if not compilation.finished or not 0 < frequency <= 1 or index >= (2 if is_input else 1):
            return DATA
        model, role = compilation.model, (id(compilation), is_input, index)
        kind = model.operands[model.inputs[index] if is_input else model.output or 0]
        if role in self.roles or (self.kinds and (kind == "scalar") != ("scalar" in self.kinds)):
            return DATA
        self.roles.append(role)
        self.kinds.add(kind)
        return OK

    def finish(self) -> ResultCode:
        """Ends it, where it has a role."""
        if self.finished:
            return STATE
        if not self.roles:
            return DATA
        self.finished = True
        return OK

    def allocate(self) -> ResultCode:
        """Memory from it; where nobody knows the size there is none."""
        if not self.finished:
            return STATE
        return OK if self.kinds & {"vector", "scalar"} else ResultCode.OP_FAILED


@dataclass
class MemoryState:
    """A memory object of so many bytes. initialised: None for shared memory."""

    size: int
    initialised: bool | None = None

    def copy_to(self, target: MemoryState) -> ResultCode | None:
        """A copy. One that fails leaves memory from a descriptor without a value.

        To copy what has no value to itself succeeds, and whether it has one then is open.
        """
        if target is self:
            return None if self.initialised is False else OK
        code = DATA if self.initialised is False or self.size != target.size else OK
        if target.initialised is not None:
            target.initialised = code == OK
        return code
