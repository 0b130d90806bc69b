"""Dimensions and ranks that a model leaves open: filled in at execution, contradicted there, or found by the device.

The grid is that of AOSP's TestUnknownDimensions in our own form: out = (a + b) + c over matrices, where each of the
four operands is known, known and said again, open and then said, or open and then contradicted, and the temporary
between the two additions is known, open in one size, or of unknown rank: 1,024 combinations for each type.
"""

from __future__ import annotations

import functools
import itertools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npu_conformance.corpus.pairwise import cover
from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, RuntimeApp
from npu_conformance.cts.lib.runtime.results import output_shape
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import Case, CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

_group = CaseGroup("cts.unknown_dimensions", interface="runtime")

_RIGHT = (2, 3)
_WRONG = {"a": (4, 3), "b": (2, 5), "c": (5, 3), "out": (7, 3)}
"""Shapes that fit neither the right one nor each other."""
_KINDS = ("known", "repeated", "filled", "wrong")
_TEMPORARIES = {"known": _RIGHT, "open_rows": (0, 3), "open_columns": (2, 0), "open_rank": ()}
_MOST_ELEMENTS = 21


@dataclass(frozen=True, slots=True)
class _Kind:
    """A type of the grid. code: of an element in module struct. unit: how 1 is stored."""

    type: OperandType
    code: str
    scale: float = 0.0
    unit: float = 1
    since: Version = Version.V1_2

    @property
    def element_size(self) -> int:
        """Of an element."""
        return struct.calcsize(self.code)

    def description(self, dimensions: tuple[int, ...]) -> OperandDescription:
        """A tensor of this type."""
        return OperandDescription(self.type, len(dimensions), dimensions or None, self.scale)

    def filled(self, elements: int, value: float) -> bytes:
        """A tensor of one value."""
        stored = value * self.unit
        return struct.pack(f"<{elements}{self.code}", *[stored if self.code != "B" else int(stored)] * elements)


_TYPES = {
    "float32": _Kind(OperandType.TENSOR_FLOAT32, "f", since=Version.V1_0),
    "float16": _Kind(OperandType.TENSOR_FLOAT16, "e"),
    "quant8": _Kind(OperandType.TENSOR_QUANT8_ASYMM, "B", 0.5, 2, Version.V1_0),
}


class _Grid:
    """Models and executions of one type and one temporary. A model is made once for all executions of it."""

    def __init__(self, app: RuntimeApp, kind: _Kind, temporary: str) -> None:
        self._app, self._kind, self._temporary = app, kind, _TEMPORARIES[temporary]
        self._compilations: dict[tuple[bool, ...], int] = {}
        self._places: dict[str, Pointer] = {}
        for name, value in {"a": 1, "b": 2, "c": 4, "out": 0}.items():
            self._places[name] = place(app.memory, kind.filled(_MOST_ELEMENTS, value))

    def run(self, kinds: tuple[str, ...]) -> None:
        """Execute with these kinds of a, b, c and out; see the sum, or a failure where something is contradicted."""
        self._app.memory.write(self._places["out"], self._kind.filled(_MOST_ELEMENTS, 9))
        execution = self._app.execution(self._compilation(kinds))
        code = self._computed(execution, dict(zip(("a", "b", "c", "out"), kinds, strict=True)))
        if "wrong" in kinds:
            checks.that(code != ResultCode.NO_ERROR, "operands whose shapes do not fit: expected a failure")
        else:
            self._app.expect("execution_compute", code)
            self._check(execution)
        self._app.free(execution)

    def _compilation(self, kinds: tuple[str, ...]) -> int:
        are_open = tuple(kind in ("filled", "wrong") for kind in kinds)
        if are_open not in self._compilations:
            self._compilations[are_open] = self._app.finished_compilation(self._model(are_open))
        return self._compilations[are_open]

    def _model(self, are_open: tuple[bool, ...]) -> int:
        app, model = self._app, self._app.empty_model()
        a, b, c, out = (self._kind.description((0, 0) if is_open else _RIGHT) for is_open in are_open)
        for description in (a, b, c, ACTIVATION, self._kind.description(self._temporary), out):
            app.succeed("model_add_operand", model, description)
        app.succeed("model_set_operand_value", model, 3, place(app.memory, bytes(4)), 4)
        app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 3), (4,))
        app.succeed("model_add_operation", model, OperationType.ADD, (4, 2, 3), (5,))
        app.succeed("model_identify_inputs_and_outputs", model, (0, 1, 2), (5,))
        app.succeed("model_finish", model)
        return model

    def _computed(self, execution: int, kinds: dict[str, str]) -> int:
        """Set all arguments and compute; returns the first code that is no success."""
        for index, (name, kind) in enumerate(kinds.items()):
            shape = _WRONG[name] if kind == "wrong" else _RIGHT
            said = None if kind == "known" else self._kind.description(shape)
            size = shape[0] * shape[1] * self._kind.element_size
            role, position = ("output", 0) if name == "out" else ("input", index)
            code: int = self._app.call(f"execution_set_{role}", execution, position, said, self._places[name], size)
            if code != ResultCode.NO_ERROR:
                return code
        return self._app.compute(execution)

    def _check(self, execution: int) -> None:
        expected = self._kind.filled(6, 7)
        found = self._app.memory.read(self._places["out"], len(expected))
        checks.equal(found, expected, "bytes of the sum")
        if self._app.level >= Version.V1_2:
            checks.equal(output_shape(self._app, execution, 0, rank=2), _RIGHT, "dimensions of the sum")


@functools.cache
def _rows(scope: Scope, type_name: str) -> tuple[tuple[str, ...], ...]:
    """Kinds of the four operands: all 256, or few in which every two come together; of float32 all that fit, too."""
    rows = list(itertools.product(_KINDS, repeat=4))
    if scope is Scope.FULL:
        return tuple(rows)
    fitting = [row for row in rows if "wrong" not in row] if type_name == "float32" else []
    return tuple(dict.fromkeys([*fitting, *cover(rows)]))


def _grid_case(type_name: str, temporary: str) -> Callable[[CaseContext], None]:
    def run(context: CaseContext) -> None:
        grid = _Grid(RuntimeApp(context), _TYPES[type_name], temporary)
        restarts = context.restarts
        for row in _rows(context.scope, type_name):
            name = "_".join(row)
            if context.wants(name):
                with context.configuration(name):
                    if context.restarts != restarts:
                        grid, restarts = _Grid(RuntimeApp(context), _TYPES[type_name], temporary), context.restarts
                    grid.run(row)

    return run


def cases() -> Iterator[Case]:
    """The grid, a case for each type and kind of temporary, then single rules."""
    for (type_name, kind), temporary in itertools.product(_TYPES.items(), _TEMPORARIES):
        yield Case(
            f"cts.unknown_dimensions.grid.{type_name}_{temporary}",
            _grid_case(type_name, temporary),
            ("FW-EXE-005", "FW-EXE-006", "FW-MDL-011", "FW-GEN-004"),
            f"(a + b) + c of {type_name}, whose shapes are known, said again, filled in or contradicted; the temporary "
            f"is {temporary.replace('_', ' in ')}.",
            "runtime",
            since=max(kind.since, Version.V1_2 if temporary == "open_rank" else Version.V1_0),
        )
    yield from _group()


_FLOATS = _TYPES["float32"]
_OPENINGS = {"rows": (0, 3), "columns": (2, 0), "both": (0, 0), "rank": ()}


def _open_sum(app: RuntimeApp, dimensions: tuple[int, ...]) -> int:
    """A compilation of a sum whose operands are all open in the same way."""
    return app.finished_compilation(app.finished_model(_FLOATS.description(dimensions)))


def _openings(app: RuntimeApp) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in _OPENINGS.items() if shape or app.level >= Version.V1_2}


def _incomplete(shape: tuple[int, ...]) -> dict[str, tuple[int, ...] | None]:
    """What an execution can say of an operand that the model leaves open like this, without saying its whole shape."""
    return {"nothing": None, "rank": shape or (0, 0), "half": (2, 0) if shape in ((), (0, 0)) else shape}


@_group.case("input.left_open", "FW-EXE-006")
def input_left_open(context: CaseContext) -> None:
    """An input that the model leaves open and the execution does not describe, or not wholly, is refused."""
    app = RuntimeApp(context)
    data = place(app.memory, _FLOATS.filled(6, 1))
    for name, shape in _openings(app).items():
        compilation = _open_sum(app, shape)
        for said, dimensions in _incomplete(shape).items():
            with context.configuration(f"{name}.{said}"):
                description = None if dimensions is None else _FLOATS.description(dimensions)
                execution = app.execution(compilation)
                code = ResultCode.BAD_DATA
                app.refused("execution_set_input", code, execution, 0, description, data, 24)
                app.succeed("execution_set_input", execution, 0, _FLOATS.description(_RIGHT), data, 24)


@_group.case("input.contradicted", "FW-EXE-005")
def input_contradicted(context: CaseContext) -> None:
    """What the model knows of an input or an output the execution cannot change: neither rank nor size nor type."""
    app = RuntimeApp(context)
    data = place(app.memory, bytes(256))
    right = _FLOATS.description(_RIGHT)
    wrong = {
        "rank_below": _FLOATS.description((6,)),
        "rank_above": _FLOATS.description((1, 2, 3)),
        "rows": _FLOATS.description((3, 3)),
        "columns": _FLOATS.description((2, 4)),
        "swapped": _FLOATS.description((3, 2)),
    }
    compilation = app.finished_compilation(app.finished_model(right))
    for name, description in wrong.items():
        with context.configuration(name):
            execution = app.execution(compilation)
            size = 4
            for dimension in description.dimensions or ():
                size *= dimension
            for role in ("input", "output"):
                code = ResultCode.BAD_DATA
                app.refused(f"execution_set_{role}", code, execution, 0, description, data, size)
                app.succeed(f"execution_set_{role}", execution, 0, right, data, 24)


@_group.case("input.partly_known", "FW-EXE-005")
def input_partly_known(context: CaseContext) -> None:
    """Of an input that is open in one size the other cannot be changed."""
    app = RuntimeApp(context)
    data = place(app.memory, bytes(256))
    for name, shape in {"rows": (0, 3), "columns": (2, 0)}.items():
        with context.configuration(name):
            execution = app.execution(_open_sum(app, shape))
            wrong = _FLOATS.description((2, 4) if name == "rows" else (4, 3))
            size = 32 if name == "rows" else 48
            app.refused("execution_set_input", ResultCode.BAD_DATA, execution, 0, wrong, data, size)
            app.succeed("execution_set_input", execution, 0, _FLOATS.description(_RIGHT), data, 24)


@_group.case("input.length", "FW-EXE-007", "FW-EXE-005")
def input_length(context: CaseContext) -> None:
    """The length of a buffer is that of the shape that the execution gives."""
    app = RuntimeApp(context)
    data = place(app.memory, bytes(256))
    for name, shape in _openings(app).items():
        with context.configuration(name):
            execution = app.execution(_open_sum(app, shape))
            for length in (20, 28):
                code = ResultCode.BAD_DATA
                app.refused("execution_set_input", code, execution, 0, _FLOATS.description(_RIGHT), data, length)
            app.succeed("execution_set_input", execution, 0, _FLOATS.description(_RIGHT), data, 24)


@_group.case("output.left_open", "FW-GEN-004", "FW-EXE-017", since=Version.V1_2)
def output_left_open(context: CaseContext) -> None:
    """An output may stay open, or be said in part, at model and at execution time; its shape is found."""
    app = RuntimeApp(context)
    for name, shape in _openings(app).items():
        for said, dimensions in {**_incomplete(shape), "all": _RIGHT}.items():
            with context.configuration(f"{name}.{said}"):
                execution = app.execution(_open_sum(app, shape))
                for index in range(2):
                    data = place(app.memory, _FLOATS.filled(6, index + 1))
                    app.succeed("execution_set_input", execution, index, _FLOATS.description(_RIGHT), data, 24)
                description = None if dimensions is None else _FLOATS.description(dimensions)
                output = place(app.memory, bytes(24))
                app.succeed("execution_set_output", execution, 0, description, output, 24)
                app.expect("execution_compute", app.compute(execution))
                checks.equal(app.memory.read(output, 24), _FLOATS.filled(6, 3), "bytes of the sum")
                checks.equal(output_shape(app, execution, 0, rank=2), _RIGHT, "dimensions of the sum")


@_group.case("input.one_compilation_many_shapes", "FW-EXE-005", "FW-GEN-004")
def one_compilation_many_shapes(context: CaseContext) -> None:
    """One compilation of open operands computes executions of different shapes, one after the other."""
    app = RuntimeApp(context)
    compilation = _open_sum(app, (0, 0))
    for rows, columns in ((1, 1), (2, 3), (5, 2), (2, 3), (40, 40)):
        _computes(app, compilation, rows, columns)


def _computes(app: RuntimeApp, compilation: int, rows: int, columns: int) -> None:
    execution, elements = app.execution(compilation), rows * columns
    description = _FLOATS.description((rows, columns))
    for index in range(2):
        data = place(app.memory, _FLOATS.filled(elements, index + 1))
        app.succeed("execution_set_input", execution, index, description, data, 4 * elements)
    output = place(app.memory, bytes(4 * elements))
    app.succeed("execution_set_output", execution, 0, description, output, 4 * elements)
    app.expect("execution_compute", app.compute(execution))
    checks.equal(app.memory.read(output, 4 * elements), _FLOATS.filled(elements, 3), "bytes of the sum")
