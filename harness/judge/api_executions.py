"""What the NNAPI C API promises of executions and of memory: their states, their values, and the code of each call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npu_conformance.harness.judge.api_model import (
    OK,
    SIZES,
    Code,
    CompilationState,
    Required,
    any_of,
    bad_data,
    bad_state,
)
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

OUTPUT = 2
"""The slot of the output, behind those of the inputs."""
_ARGUMENTS = 3


@dataclass(eq=False)
class MemoryState:
    """A memory object of so many bytes. content: None where it is open.

    initialised: None for shared memory. roles: of memory from a descriptor. busy: executions under way that use it.
    """

    size: int
    initialised: bool | None = None
    content: bytes | None = None
    roles: tuple[tuple[int, bool, int], ...] = ()
    busy: int = 0

    def copy_to(self, target: MemoryState) -> Code:
        """A copy. One that fails leaves memory from a descriptor without a value.

        To copy what has no value to itself succeeds, and whether it has one then is open.
        """
        if self.busy or target.busy:
            return None
        if target is self:
            return None if self.initialised is False else OK
        is_right = self.initialised is not False and self.size == target.size
        if target.initialised is not None:
            target.initialised = is_right
        if is_right:
            target.content = self.content
        return Required(ResultCode.NO_ERROR, "FW-MEM-006") if is_right else bad_data("FW-MEM-006")

    def refusal(self, role: tuple[int, bool, int], offset: int, length: int) -> Required | None:
        """Why a part of it cannot be an argument; None where it can."""
        if self.initialised is None:
            return bad_data("FW-MDL-017") if offset + length > self.size else None
        return None if role in self.roles and not offset and not length else bad_data("FW-MEM-003")

    def part(self, offset: int) -> bytes | None:
        """The value of an argument in it."""
        return None if self.content is None else self.content[offset : offset + SIZES["vector"]]

    def write(self, offset: int, value: bytes | None) -> None:
        """An execution that has succeeded writes to it."""
        if self.initialised is not None:
            self.initialised = True
        if value is None or self.content is None:
            self.content = value if self.initialised else None
        else:
            self.content = self.content[:offset] + value + self.content[offset + len(value) :]


COMPUTED = Required(ResultCode.NO_ERROR, "FW-EXE-013")


@dataclass
class ArgumentState:
    """An argument that is set. data: an input's value. memory, offset: where it lies, unless behind a pointer."""

    data: bytes = b""
    memory: MemoryState | None = None
    offset: int = 0

    @property
    def value(self) -> bytes | None:
        """The value of an input; None where it is open."""
        return self.data if self.memory is None else self.memory.part(self.offset)


@dataclass(eq=False)
class ExecutionState:
    """An execution. arguments: what is set, by slot, inputs first. phase: prepared, started, completed.

    fenced: whether it was started with dependencies. written: the value of its output; None where it is open.
    said: what was accepted, by setter. starts: how often it was started. outcome: how what may be computed ends.
    """

    compilation: CompilationState
    level: Version
    arguments: dict[int, ArgumentState] = field(default_factory=dict)
    phase: str = "prepared"
    result: Required = OK
    reusable: bool = False
    measures: bool = False
    padded: bool = False
    fenced: bool = False
    written: bytes | None = None
    said: dict[str, int] = field(default_factory=dict)
    starts: int = 0
    outcome: Required = COMPUTED

    def kind(self, slot: int) -> str:
        """The kind of an input, or of the output."""
        model = self.compilation.model
        return model.operands[(*model.inputs, model.output or 0)[slot]]

    def role(self, slot: int) -> tuple[int, bool, int]:
        """As memory from a descriptor has to have it."""
        return id(self.compilation), slot != OUTPUT, slot % OUTPUT

    def set_argument(self, slot: int, type_: str, length: int, *, in_range: bool = True, data: bytes = b"") -> Code:
        """An argument behind a pointer. type_: empty for none, `right`, or wrong in `size` or `rank`.

        in_range: False for an index of no argument. data: the value of an input.
        """
        code = self._argument(slot, type_, length, in_range=in_range)
        if code == OK:
            self.arguments[slot] = ArgumentState(data)
        return code

    def set_memory(self, slot: int, type_: str, memory: MemoryState, offset: int, length: int) -> Code:
        """An argument in memory. Memory that is used twice is open."""
        if memory.busy or any(other.memory is memory for other in self.arguments.values()):
            return None
        is_described = memory.initialised is not None
        if is_described and self.kind(slot) == "unknown":
            return None
        size = SIZES["scalar" if self.kind(slot) == "scalar" else "vector"]
        code = self._argument(slot, type_, size if is_described else length)
        if code is None:
            return None
        wrong = any_of(None if code == OK else code, memory.refusal(self.role(slot), offset, length))
        if wrong is None:
            self.arguments[slot] = ArgumentState(memory=memory, offset=offset)
        return wrong or OK

    def _argument(self, slot: int, type_: str, length: int, *, in_range: bool = True) -> Code:
        late = bad_state("FW-EXE-002") if self.phase != "prepared" else None
        if not in_range:
            return any_of(late, bad_data("FW-EXE-004"))
        if self.kind(slot) == "unknown" and (type_ == "size" or (slot == OUTPUT and not type_)):
            return late and any_of(late, bad_data("FW-EXE-007"))  # of how many bytes it may be is open
        twice = bad_state("FW-EXE-004") if slot in self.arguments else None
        return any_of(late, self._wrong_type(slot, type_), twice, self._wrong_length(slot, length)) or OK

    def _wrong_type(self, slot: int, type_: str) -> Required | None:
        kind = self.kind(slot)
        if (kind == "scalar" and type_) or type_ in ("size", "rank"):
            return bad_data("FW-EXE-005")
        return bad_data("FW-EXE-006") if kind == "unknown" and not type_ else None

    def _wrong_length(self, slot: int, length: int) -> Required | None:
        size = SIZES["scalar" if self.kind(slot) == "scalar" else "vector"]
        return None if length == size or (self.padded and length > size) else bad_data("FW-EXE-007")

    def set(self, *, of_one_device: bool = False, before_arguments: bool = False) -> Code:
        """Any other setter. before_arguments: once an argument is set it is too late."""
        if of_one_device and not self.compilation.is_explicit:
            return bad_data("FW-EXE-009")
        if self.phase != "prepared" or (before_arguments and self.arguments):
            return bad_state("FW-EXE-008" if before_arguments else "FW-EXE-002")
        return OK

    def compute(self, *, is_waited: bool = True) -> Code:
        """None while it is under way and may compute again once it is over.

        is_waited: False where it is only started; who tells then of memory without a value is open. Whether an
        execution is spent by it is open up to feature level 4: Android R refuses it before it begins.
        """
        if self.phase == "started" and self.reusable:
            return None
        if self.phase != "prepared" and not self.reusable:
            return bad_state("FW-EXE-002")
        if self.phase == "completed" and self.result not in (self.outcome, COMPUTED):
            return self.result if self.result.requirement == "FW-EXE-011" else None
        memories = [one.memory for one in self.arguments.values() if one.memory is not None]
        if len(self.arguments) < _ARGUMENTS:
            return None if self._would_lose_value(memories) else self._lacks_argument()
        if any(memory.busy for memory in memories):
            return None
        if any(
            one.memory and one.memory.initialised is False for slot, one in self.arguments.items() if slot != OUTPUT
        ):
            return self._lacks_value() if is_waited and self.level >= Version.FL5 else None
        if self.outcome != COMPUTED:
            return self._fails(self.outcome) if is_waited else None  # whether a start or its event tells is open
        self.phase, self.fenced, self.result = "completed", False, COMPUTED
        self._write()
        return self.result

    def _would_lose_value(self, memories: Sequence[MemoryState]) -> bool:
        """Which of two mistakes is told is open, and so is whether an output keeps the value that it had before."""
        output = self.arguments.get(OUTPUT, ArgumentState()).memory
        return any(one.initialised is False or (one is output and one.initialised) for one in memories)

    def refuse_burst(self) -> Code:
        """A burst of another compilation. None where the execution may be spent since something else is wrong, too."""
        is_over = self.phase != "prepared" and not (self.reusable and self.phase == "completed")
        is_ready = len(self.arguments) == _ARGUMENTS and self.result in (OK, COMPUTED)
        if not (is_over or is_ready) or any(one.memory for one in self.arguments.values()):
            return None
        return any_of(bad_data("FW-EXE-014"), bad_state("FW-EXE-002") if is_over else None)

    def begin(self, *, fenced: bool) -> None:
        """It was started, and what `compute` said comes true when its event was waited for."""
        self.phase, self.fenced, self.starts = "started", fenced, self.starts + 1
        self._use(1)

    def end(self) -> None:
        """Its event was waited for."""
        if self.phase == "started":
            self.phase = "completed"
            self._use(-1)

    def _use(self, more: int) -> None:
        for argument in self.arguments.values():
            if argument.memory is not None:
                argument.memory.busy += more

    def _write(self) -> None:
        first, second = self.arguments[0].value, self.arguments[1].value
        self.written = None
        if first is not None and second is not None:
            self.written = self.compilation.model.result((first, second))
        output = self.arguments[OUTPUT]
        if output.memory is not None:
            output.memory.write(output.offset, self.written)

    def _lacks_argument(self) -> Code:
        """Since feature level 5 the execution is spent by it (1.3 of the C API's object states)."""
        missing = bad_data("FW-EXE-011")
        if self.level >= Version.FL5:
            self.phase, self.result = "completed", missing
        return missing

    def _lacks_value(self) -> Code:
        """An input in memory that nobody has written."""
        return self._fails(Required(ResultCode.OP_FAILED, "FW-MEM-004"))

    def _fails(self, result: Required) -> Code:
        """It ends so, and its output has no value (FW-MEM-005)."""
        self.phase, self.fenced, self.result = "completed", False, result
        output = self.arguments[OUTPUT]
        if output.memory is not None and output.memory.initialised is not None:
            output.memory.initialised = False
        elif output.memory is not None:
            output.memory.content = None
        return self.result

    def query(self, *, in_range: bool) -> Code:
        """Rank or dimensions of the output."""
        if self.phase == "started" or self.fenced:
            return None
        is_there = self.phase != "prepared" and self.result.code == ResultCode.NO_ERROR
        wrong = None if in_range else bad_data("FW-EXE-017")
        refused = any_of(None if is_there else bad_state("FW-EXE-017"), wrong)
        return refused or Required(ResultCode.NO_ERROR, "FW-EXE-017")

    def duration(self, *, is_code: bool) -> Code:
        """A duration."""
        wrong = None if is_code else bad_data("FW-EXE-019")
        if self.phase == "started" or self.fenced:
            return wrong and any_of(wrong, bad_state("FW-EXE-019"))
        is_there = self.phase == "completed" and self.result.code == ResultCode.NO_ERROR and self.measures
        refused = any_of(wrong, None if is_there else bad_state("FW-EXE-019"))
        return refused or Required(ResultCode.NO_ERROR, "FW-EXE-019")
