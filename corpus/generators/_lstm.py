"""What the generators of the LSTM operations share: the operands of a cell with all that it may leave out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, omitted, scalar, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

KINDS = {"float32": OperandType.TENSOR_FLOAT32, "float16": OperandType.TENSOR_FLOAT16}
_SCALARS = {"float32": OperandType.FLOAT32, "float16": OperandType.FLOAT16}
ACTIVATIONS = {"none": 0, "relu": 1, "relu6": 3, "tanh": 4, "sigmoid": 6}
GATES = ("input", "forget", "cell", "output")
_BIASES = ("input_gate_bias", "forget_gate_bias", "cell_bias", "output_gate_bias")
_STEPS = {"input_to": 0.125, "recurrent_to": 0.125, "cell_to": 0.25, "bias": 0.25, "projection": 0.25}

WRONG_SIZES = (
    ("input_to_input", 0),
    ("input_to_forget", 1),
    ("recurrent_to_input", 1),
    ("recurrent_to_cell", 0),
    ("cell_to_forget", 0),
    ("output_gate_bias", 0),
    ("projection_weights", 0),
    ("projection_weights", 1),
    ("projection_bias", 0),
    ("forget_layer_norm_weights", 0),
)
"""Operands, by the axis along which they can be too long: one for each kind."""


SQUARE = "a projection as large as the cell, without bias: shapes do not tell the operands from others"
"""What is told by such a cell."""

CLIP_ALONE = "the projection is clipped, and the cell state, which is larger, is not"
"""What is told by a projection clip without a cell clip."""


@dataclass(frozen=True)
class Cell:
    """A cell. output: size of the output, None without projection. zero_states: both states are constant zeros."""

    kind: str = "float32"
    seed: int = 0
    batch: int = 2
    size: int = 3
    units: int = 4
    output: int | None = None
    coupled: bool = False
    peepholes: bool = False
    projection_bias: bool = False
    norm: bool = False
    zero_states: bool = False

    @property
    def type(self) -> OperandType:
        """The type of its tensors."""
        return KINDS[self.kind]

    @property
    def outputs(self) -> int:
        """Size of its output."""
        return self.units if self.output is None else self.output

    @property
    def hazards(self) -> list[str]:
        """The hazards that it looks at."""
        return ["recurrent-activation-codes", *(["lstm-layer-norm"] if self.norm else [])]

    def weights(self, prefix: str = "") -> Operands:
        """The 17 weights in their order, constants, those left out without value."""
        units, outputs = self.units, self.outputs
        shapes: dict[str, tuple[int, ...]] = {f"input_to_{gate}": (units, self.size) for gate in GATES}
        shapes |= {f"recurrent_to_{gate}": (units, outputs) for gate in GATES}
        shapes |= {f"cell_to_{gate}": (units,) for gate in ("input", "forget", "output")}
        shapes |= dict.fromkeys(_BIASES, (units,))
        shapes |= {"projection_weights": (outputs, units), "projection_bias": (outputs,)}
        return self._planned(prefix, shapes)

    def norms(self, prefix: str = "") -> Operands:
        """The 4 norm weights."""
        return self._planned(prefix, {f"{gate}_layer_norm_weights": (self.units,) for gate in GATES})

    def states(self, output: str, cell: str) -> Operands:
        """Output state and cell state by the names that the operation has for them."""
        shapes = {output: (self.batch, self.outputs), cell: (self.batch, self.units)}
        if self.zero_states:
            return {name: tensor(self.type, shape, 0.0, constant=True) for name, shape in shapes.items()}
        return {
            name: tensor(self.type, shape, dyadic(self.seed + 90 + place, shape, -1.0, 1.0, 0.25))
            for place, (name, shape) in enumerate(shapes.items())
        }

    def _planned(self, prefix: str, shapes: Mapping[str, tuple[int, ...]]) -> Operands:
        return {
            prefix + name: self._weight(name, shape, self.seed + 7 * place + len(prefix))
            for place, (name, shape) in enumerate(shapes.items())
        }

    def _weight(self, name: str, shape: tuple[int, ...], seed: int) -> OperandSpec:
        if not self._has(name):
            return omitted(self.type, shape)
        if name.endswith("layer_norm_weights"):
            return tensor(self.type, shape, dyadic(seed, shape, 0.25, 1.0, 0.25), constant=True)
        step = next((step for part, step in _STEPS.items() if part in name), 0.125)
        return tensor(self.type, shape, dyadic(seed, shape, -1.0, 1.0, step), constant=True)

    def _has(self, name: str) -> bool:
        gone = {
            "input_to_input": self.coupled,
            "recurrent_to_input": self.coupled,
            "input_gate_bias": self.coupled,
            "cell_to_input": self.coupled or not self.peepholes,
            "cell_to_forget": not self.peepholes,
            "cell_to_output": not self.peepholes,
            "projection_weights": self.output is None,
            "projection_bias": not self.projection_bias,
            "input_layer_norm_weights": self.coupled or not self.norm,
        }
        return not gone.get(name, name.endswith("norm_weights") and not self.norm)


def cover(more: Mapping[str, list[Any]]) -> Iterator[tuple[str, Cell, dict[str, Any]]]:
    """Names, cells and parameters in which every two properties of a cell meet. more: further parameters."""
    own: dict[str, list[Any]] = {
        "kind": list(KINDS),
        "coupled": [False, True],
        "peepholes": [False, True],
        "norm": [False, True],
        "projection": ["", "projection", "projection_bias"],
        "activation": list(ACTIVATIONS),
        "clips": [(0.0, 0.0), (0.5, 0.0), (0.75, 0.25)],
    }
    for seed, row in enumerate(pairwise({**own, **more})):
        cell = Cell(
            row["kind"],
            1000 * seed,
            output=3 if row["projection"] else None,
            coupled=row["coupled"],
            peepholes=row["peepholes"],
            norm=row["norm"],
            projection_bias=row["projection"] == "projection_bias",
            zero_states=seed % 3 == 0,
        )
        parts = [row["kind"], "cifg" * row["coupled"], "peephole" * row["peepholes"], "norm" * row["norm"]]
        parts += [row["projection"], row["activation"], "cell_clip" * (row["clips"][0] > 0)]
        parts += ["proj_clip" * (row["clips"][1] > 0), *(key if row[key] is True else row[key] for key in more)]
        yield "_".join(part for part in parts if part), cell, row


def parameters(kind: str, activation: str = "tanh", clips: Sequence[float] = (0.0, 0.0)) -> Operands:
    """Activation code, cell clip and projection clip."""
    number = _SCALARS[kind]
    return {
        "activation": int32(ACTIVATIONS[activation]),
        "cell_clip": scalar(number, clips[0]),
        "proj_clip": scalar(number, clips[1]),
    }


def omitted_in_request(vector: Vector) -> Vector:
    """Operands without value become model inputs of shape [0] that the request leaves out."""
    operands = {
        name: structs.replace(operand, dimensions=(0,)) if operand.omitted else operand
        for name, operand in vector.operands.items()
    }
    inputs = tuple(name for name, operand in operands.items() if operand.omitted or name in vector.inputs)
    return structs.replace(vector, operands=operands, inputs=inputs)


def opened(inputs: Operands, outputs: Operands, sizes: Mapping[int, int] | None) -> Operands:
    """Model inputs and outputs that leave sizes open, by axis, or with None the rank too."""
    found = {}
    for name, spec in {**inputs, **outputs}.items():
        shape = spec.operand.dimensions
        if name in outputs or (spec.data is not None and not spec.constant):
            dimensions = () if sizes is None else tuple(sizes.get(axis, size) for axis, size in enumerate(shape))
            found[name] = replace(spec, operand=structs.replace(spec.operand, dimensions=dimensions), shape=shape)
    return found


def zeros(operands: Operands) -> Operands:
    """Those of the operands that have a value, with zeros for it."""
    return {
        name: tensor(spec.operand.type, spec.operand.dimensions, 0.0, constant=True)
        for name, spec in operands.items()
        if spec.data is not None
    }


def reshaped(spec: OperandSpec, shape: Sequence[int]) -> OperandSpec:
    """The operand with another shape and data of its own; the data of outputs stays away."""
    data = None if spec.data is None else dyadic(5, shape, -1.0, 1.0, 0.5)
    return tensor(spec.operand.type, shape, data, constant=spec.constant)


def resized(operands: Operands, name: str, axis: int) -> Operands:
    """One operand, longer by one along an axis."""
    shape = list(operands[name].operand.dimensions)
    shape[axis] += 1
    return {name: reshaped(operands[name], shape)}


def without(operands: Operands, *names: str) -> Operands:
    """Some operands, without value."""
    return {name: omitted(operands[name].operand.type, operands[name].operand.dimensions) for name in names}


def large_cell_state(cell: Cell) -> Operands:
    """A cell state to begin with that lies well beyond common clips."""
    shape = (cell.batch, cell.units)
    return {"cell_state_in": tensor(cell.type, shape, dyadic(cell.seed, shape, 2.0, 4.0))}


def presence_rejections(
    cell: Cell, prefix: str = "", wrong: Callable[[Cell], Cell] = lambda cell: cell
) -> Iterator[tuple[str, str, Cell, Operands]]:
    """What must not be given or omitted alone: name, clause, cell, and the operands that differ from the cell's.

    The clauses have the same numbers in all operations. cell: sizes and types. wrong: which cell of the operation has
    the differing operands, by the first one.
    """
    full = replace(cell, peepholes=True, output=cell.units - 1, projection_bias=True, norm=True)
    names = {
        "C2": ("input_to_input", "input_gate_bias"),
        "C3": ("cell_to_forget", "cell_to_output"),
        "C5": ("projection_weights",),
        "C6": ("input_layer_norm_weights", "forget_layer_norm_weights", "output_layer_norm_weights"),
    }
    for clause, missing in names.items():
        for name in missing:
            base = replace(full, output=cell.units) if clause == "C5" else full
            if name == "input_to_input":  # Without these weights there is no input gate for the others.
                base = replace(base, peepholes=False, norm=False)
            parts = wrong(base).weights(prefix) | wrong(base).norms(prefix)
            yield f"{name}_omitted", clause, base, without(parts, prefix + name)
    parts = wrong(full).weights(prefix) | wrong(full).norms(prefix)
    for name, clause in (("input_gate_bias", "C2"), ("input_layer_norm_weights", "C6")):
        yield f"{name}_without_gate", clause, replace(full, coupled=True), {prefix + name: parts[prefix + name]}
